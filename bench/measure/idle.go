package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"redlockd/bench/load"
	"redlockd/bench/report"
	"redlockd/bench/resp"
	"redlockd/bench/rows"
)

const (
	idleAtOnce  = 64               // clients that connect and take at a time
	idleLimit   = 10 * time.Second // for one answer
	idleSettle  = 2 * time.Second  // between the last take and the reading: nobody does anything then
	spareFiles  = 100              // files that we, and redlockd, have open besides the clients' connections
	idleQuick   = 200              // clients with --quick
	quickSettle = 100 * time.Millisecond
)

// withIdleClients lets many clients connect and take one lock each, and reads by how much redlockd's resident memory has
// grown when none of them does anything any more.
func (b *bench) withIdleClients(ctx context.Context, s *Stage) (line report.Line, err error) {
	line = report.NewLine(s.Row)
	line.Clients = min(s.Row.Clients, openFiles(s.Row.Clients+spareFiles)-spareFiles)
	if line.Clients < s.Row.Clients {
		line.Remark = fmt.Sprintf("the limit of open files allows no more of %d", s.Row.Clients)
	}
	settle := idleSettle
	if b.quick {
		line.Clients, settle, line.Remark = min(line.Clients, idleQuick), quickSettle, "--quick"
	}
	before, err := resident(s.running.Pids)
	if err != nil {
		return line, err
	}
	conns, err := idleClients(ctx, s.running.Addr, line.Clients)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	if err != nil {
		return line, err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return line, ctx.Err()
	}
	after, err := resident(s.running.Pids)
	if err != nil {
		return line, err
	}
	line.Ops = uint64(len(conns))
	line.ClientKiB = float64(after-before) / 1024 / float64(len(conns))
	for _, c := range conns { // none was dropped meanwhile
		if err := exchange(c, "+PONG\r\n", "PING"); err != nil {
			line.Errors++
			line.FirstError = err.Error()
		}
	}
	return line, nil
}

// idleClients connects n clients, each of which takes one lock. Beside an error it returns those that have.
func idleClients(ctx context.Context, addr string, n int) (conns []net.Conn, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan int)
	for range idleAtOnce {
		wg.Go(func() {
			for i := range work {
				conn, failed := idleClient(addr, i)
				mu.Lock()
				if failed != nil && err == nil {
					err = fmt.Errorf("client %d of %d: %w", i+1, n, failed)
				}
				if conn != nil {
					conns = append(conns, conn)
				}
				mu.Unlock()
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		work <- i
	}
	close(work)
	wg.Wait()
	return conns, errors.Join(err, ctx.Err())
}

func idleClient(addr string, i int) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, idleLimit)
	if err != nil {
		return nil, err
	}
	return conn, exchange(conn, "+OK\r\n", "SET", "idle:"+strconv.Itoa(i), "bench", "NX", "PX", load.TTL)
}

// exchange asks one thing and wants these bytes.
func exchange(conn net.Conn, want string, args ...string) error {
	if err := conn.SetDeadline(time.Now().Add(idleLimit)); err != nil {
		return err
	}
	if _, err := conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return err
	}
	got := make([]byte, len(want))
	n, err := io.ReadFull(conn, got)
	if !bytes.Equal(got, []byte(want)) {
		return fmt.Errorf("%s was answered %q, %w", args[0], got[:n], err)
	}
	return err
}

// openFiles raises the limit of open files to what is wanted, for us and for redlockd, and says what it is then. Above the
// hard limit only root gets.
func openFiles(want int) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return want // let it be found out
	}
	if limit.Cur < uint64(want) {
		raised := syscall.Rlimit{Cur: uint64(want), Max: max(limit.Max, uint64(want))}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) != nil {
			raised = syscall.Rlimit{Cur: min(limit.Max, uint64(want)), Max: limit.Max}
			_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised)
		}
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return want
		}
	}
	return int(min(limit.Cur, uint64(want)))
}

// resident is the memory of these processes that stands in RAM, in bytes.
func resident(pids []int) (bytes int64, err error) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0, err
		}
		kib := int64(-1)
		for line := range strings.Lines(string(text)) {
			if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kib, err = strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			}
		}
		if kib < 0 || err != nil {
			return 0, fmt.Errorf("no VmRSS of process %d: %w", pid, err)
		}
		bytes += kib << 10
	}
	return bytes, nil
}

// idleFlags let redlockd serve them all.
func idleFlags(row rows.Row) []string {
	if row.Work != load.Idle {
		return nil
	}
	return []string{"--max-clients", strconv.Itoa(row.Clients + spareFiles)}
}
