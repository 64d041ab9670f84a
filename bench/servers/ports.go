package servers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"redlockd/bench/resp"
)

// Ports are taken from below Linux's range for outgoing connections (32768 and up), not from port 0. Two things go
// wrong in that range: an outgoing connection of a busy bench takes the port between our look and the server's bind;
// and while a killed node is down, the proxy that redials it can connect *to itself* (same source and target port), which
// answers rubbish and keeps the node from binding its port again.
const (
	firstPort = 10_000
	lastPort  = 32_000
)

const (
	portTries   = 20                    // ports tried before we give up; each costs one failed start
	readyLimit  = 20 * time.Second      // from fork to PONG; generous, for -race builds on a loaded machine
	readyPause  = 5 * time.Millisecond  // between two PINGs while waiting
	pingLimit   = time.Second           // for one PING; the next is sent anyway
	infoLimit   = 10 * time.Second      // for INFO of a server that has answered PING
	restartWait = 10 * time.Second      // for the old port to be free again
	retryPause  = 50 * time.Millisecond // between two tries to get the old port
)

// errPortTaken: somebody else has the port; another one may do.
var errPortTaken = errors.New("the port is taken")

// freePort finds a port that nobody listens on at this moment. Whoever binds it must be ready to find it taken.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		ln, err := net.Listen("tcp", address(port))
		if err != nil {
			last = err
			continue
		}
		return port, ln.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", firstPort, lastPort, last)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// onFreePort starts something that listens on a port, on another port if the first was taken meanwhile.
func onFreePort(start func(port int) (*process, error)) (int, *process, error) {
	var last error
	for range portTries {
		port, err := freePort()
		if err != nil {
			return 0, nil, err
		}
		p, err := startAt(port, start)
		if err == nil {
			return port, p, nil
		}
		if !errors.Is(err, errPortTaken) {
			return 0, nil, err
		}
		last = err
	}
	return 0, nil, fmt.Errorf("gave up after %d ports: %w", portTries, last)
}

// startAt starts something on this port and waits until it answers. What did not become ready is killed.
func startAt(port int, start func(port int) (*process, error)) (*process, error) {
	p, err := start(port)
	if err != nil {
		return nil, err
	}
	if err := ready(p, address(port)); err != nil {
		return nil, errors.Join(err, p.kill())
	}
	return p, nil
}

// ready waits until the process answers PING, and makes sure that it is this process that answers: on a port that was
// taken meanwhile, somebody else's Redis would answer just as well, and a bench would measure the wrong server.
func ready(p *process, addr string) error {
	deadline := time.Now().Add(readyLimit)
	var last error
	for time.Now().Before(deadline) {
		if p.ended() {
			return whyEnded(p, addr)
		}
		var pong resp.Reply
		pong, last = resp.Do(addr, pingLimit, "PING")
		if strings.HasPrefix(pong.Text, "NOAUTH") {
			return nil // a password was asked for: it is up, and INFO needs the password too
		}
		if last == nil {
			if pong.Text != "PONG" {
				return fmt.Errorf("%s at %s: PING was answered %s: %w", p.name, addr, pong, errPortTaken)
			}
			return isOurs(p, addr)
		}
		time.Sleep(readyPause)
	}
	return fmt.Errorf("%s at %s does not answer PING after %v: %w\n%s", p.name, addr, readyLimit, last, p.log.lastLines(20))
}

func whyEnded(p *process, addr string) error {
	err := fmt.Errorf("%s at %s ended with code %d before it answered:\n%s", p.name, addr, p.code, p.log.lastLines(20))
	if strings.Contains(strings.ToLower(p.log.String()), "address already in use") {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return err
}

// isOurs compares the process id that INFO shows with our child's. A server that shows none is believed.
func isOurs(p *process, addr string) error {
	info, err := resp.Do(addr, infoLimit, "INFO", "server")
	if err != nil && info.Kind != resp.Error {
		return err
	}
	for line := range strings.Lines(info.Text) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "process_id:"); ok && id != strconv.Itoa(p.pid()) {
			return fmt.Errorf("%s: process %s answers instead of our %d: %w", addr, id, p.pid(), errPortTaken)
		}
	}
	return nil
}

// subdir makes a directory of its own for one server.
func subdir(dir, name string) (string, error) {
	if dir == "" {
		return "", errors.New("servers: an empty directory name; the caller owns the directory and removes it")
	}
	return os.MkdirTemp(dir, name+"-")
}
