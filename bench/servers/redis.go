package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"redlockd/bench/resp"
)

// doLimit is for one Do; a paused server answers none.
const doLimit = 10 * time.Second

// Redis is one redis-server. Addr never changes, also over a Restart. Its methods are for one goroutine at a time,
// except Close, which may come from anywhere.
type Redis struct {
	Addr string

	dir   string
	port  int
	args  []string
	clock *clock // nil: the machine's

	mu     sync.Mutex // Invariant: proc is set and only replaced by Restart
	proc   *process
	closed bool
}

// StartRedis starts redis-server on a free port of 127.0.0.1, without persistence, its working directory below dir, and
// waits until it answers PING. Later args win over ours: "--appendonly", "yes" gives one that remembers.
func StartRedis(dir string, args ...string) (*Redis, error) {
	own, err := subdir(dir, "redis")
	if err != nil {
		return nil, err
	}
	return startRedis(own, nil, args)
}

func startRedis(own string, c *clock, args []string) (*Redis, error) {
	r := &Redis{dir: own, args: args, clock: c}
	var err error
	r.port, r.proc, err = onFreePort(r.launch)
	if err != nil {
		return nil, err
	}
	r.Addr = address(r.port)
	r.up(r.proc)
	return r, nil
}

// up: the process answers. So libfaketime is done with its shared memory, too.
func (r *Redis) up(p *process) {
	if r.clock != nil {
		r.clock.learn(p.pid())
		sweepFaketime(p.pid())
	}
}

// StartFleet starts n of them, all at once. Either all stand or none.
func StartFleet(dir string, n int, args ...string) ([]*Redis, error) {
	fleet := make([]*Redis, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fleet[i], errs[i] = StartRedis(dir, args...) })
	}
	wg.Wait()
	err := errors.Join(errs...)
	if err == nil {
		return fleet, nil
	}
	for _, r := range fleet {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}
	return nil, err
}

// Nodes is the value for redlockd's --nodes.
func Nodes(fleet []*Redis) string {
	addrs := make([]string, len(fleet))
	for i, r := range fleet {
		addrs[i] = r.Addr
	}
	return strings.Join(addrs, ",")
}

func (r *Redis) launch(port int) (*process, error) {
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", r.dir,
		"--daemonize", "no", "--save", "", "--appendonly", "no",
	}
	args = append(args, r.args...)
	if r.clock == nil {
		return launch(r.dir, nil, "redis-server", args...)
	}
	if err := r.clock.starting(); err != nil {
		return nil, fmt.Errorf("the clock's file: %w", err)
	}
	return launch(r.dir, r.clock.env(), "redis-server", args...)
}

// current is the running process.
func (r *Redis) current() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc
}

// Pid is the process id; another one after a Restart.
func (r *Redis) Pid() int { return r.current().pid() }

// Log is what the server wrote since it was last started.
func (r *Redis) Log() string { return r.current().log.String() }

// Kill ends the server with SIGKILL and waits for it to be gone. A second Kill does nothing.
func (r *Redis) Kill() error { return r.current().kill() }

// Restart starts the server again on the same port, killing it first if it still runs. Its memory is empty then, unless
// the args asked for persistence.
func (r *Redis) Restart() error {
	if err := r.Kill(); err != nil {
		return err
	}
	p, err := startAt(r.port, r.launch)
	for deadline := time.Now().Add(restartWait); errors.Is(err, errPortTaken) && time.Now().Before(deadline); {
		time.Sleep(retryPause)
		p, err = startAt(r.port, r.launch)
	}
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	r.up(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errors.Join(errors.New("restart: closed meanwhile"), p.kill())
	}
	r.proc = p
	return nil
}

// Remove kills the server and deletes what it has stored below its directory. After a Restart it is another machine in
// its place: empty also with persistence, on the same port. Its clock stays as set.
func (r *Redis) Remove() error {
	if err := r.Kill(); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.dir)
	for _, entry := range entries {
		if entry.Name() != clockFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, entry.Name())))
		}
	}
	return err
}

// Do asks one thing over a connection of its own: string, int64, nil, or a slice of these. Arguments that are neither
// string nor []byte are written as fmt.Sprint writes them. An error reply is an error; inside a slice it is an element.
func (r *Redis) Do(command string, args ...any) (any, error) {
	words := []string{command}
	for _, arg := range args {
		if b, ok := arg.([]byte); ok {
			arg = string(b)
		}
		words = append(words, fmt.Sprint(arg))
	}
	reply, err := resp.Do(r.Addr, doLimit, words...)
	if err != nil {
		return nil, err
	}
	return value(reply)
}

func value(reply resp.Reply) (any, error) {
	switch {
	case reply.Null:
		return nil, nil
	case reply.Kind == resp.Error:
		return errors.New(reply.Text), nil
	case reply.Kind == resp.Integer:
		return strconv.ParseInt(reply.Text, 10, 64)
	case reply.Kind == resp.Array:
		items := make([]any, len(reply.Items))
		var errs []error
		for i, item := range reply.Items {
			var err error
			items[i], err = value(item)
			errs = append(errs, err)
		}
		return items, errors.Join(errs...)
	}
	return reply.Text, nil
}

// Flush empties the server, all databases of it, as FLUSHALL of an operator who mistook the machine.
func (r *Redis) Flush() error {
	_, err := r.Do("FLUSHALL")
	return err
}

// Pause stops the server with SIGSTOP: its kernel still accepts connections and bytes, but nothing answers. That is
// the failure that hurts a client most, and what a long fork, a full disk or a frozen machine looks like.
func (r *Redis) Pause() error { return r.current().signal(syscall.SIGSTOP) }

// Resume lets a paused server go on; it then answers everything that was sent to it meanwhile.
func (r *Redis) Resume() error { return r.current().signal(syscall.SIGCONT) }

// Close ends the server, also a paused one. It may be called again, and after Kill.
func (r *Redis) Close() error {
	r.mu.Lock()
	r.closed = true
	p := r.proc
	r.mu.Unlock()
	return p.kill()
}
