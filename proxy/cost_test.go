package proxy

// Gates for what clients cost, none of which depends on how fast the machine is.

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"redlockd/quorum"
)

// overTCP serves over real sockets, by nodes that say yes at once, until the test ends.
func overTCP(t *testing.T) (s *Server, dial func() net.Conn) {
	s = newTestServer(always{quorum.Answer{Vote: quorum.Yes}}, always{quorum.Answer{Vote: quorum.Yes}}, always{quorum.Answer{Vote: quorum.Yes}})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		s.guards[0].stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, func() net.Conn {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

func takeOf(key string) string {
	return fmt.Sprintf("*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$5\r\ntoken\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n", len(key), key)
}

func ask(t *testing.T, c net.Conn, request string, reply []byte) {
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, reply); err != nil || !strings.HasPrefix(string(reply), "+OK") {
		t.Fatalf("%q, %v", reply, err)
	}
}

// Redcon copies a command and cuts it into arguments: two allocations, and a share of its list of commands. A take adds none.
func TestCostOfACommand(t *testing.T) {
	_, dial := overTCP(t)
	c := dial()
	const pipeline = 64
	request, reply := strings.Repeat(takeOf("lock:1"), pipeline), make([]byte, len("+OK\r\n")*pipeline)
	perBatch := testing.AllocsPerRun(200, func() { ask(t, c, request, reply) })
	most := 2.5
	if underRace { // which makes every sync.Pool lose a quarter of what it is given
		most = 3.5
	}
	if perBatch/pipeline > most {
		t.Fatalf("%.2f allocations a take, want %v at most", perBatch/pipeline, most)
	}
	t.Logf("%.2f allocations a take", perBatch/pipeline)
}

// 10,000 clients that wait for something to do are to fit into 200 MB.
func TestCostOfAnIdleClient(t *testing.T) {
	const clients, most = 500, (20 + 2) << 10 // 20 KiB, and 2 for the other end, which is in this process too
	_, dial := overTCP(t)
	conns := []net.Conn{dial()}
	ask(t, conns[0], takeOf("first"), make([]byte, 5))
	goroutines, memory := runtime.NumGoroutine(), held()
	for i := range clients {
		c := dial()
		conns = append(conns, c)
		ask(t, c, takeOf(fmt.Sprint("lock:", i)), make([]byte, 5))
	}
	if n := runtime.NumGoroutine() - goroutines; n != clients {
		t.Errorf("%d clients have %d goroutines, want one each", clients, n)
	}
	each := (held() - memory) / clients
	if each > most {
		t.Errorf("an idle client and its other end hold %d bytes, want %d at most", each, most)
	}
	t.Logf("an idle client and its other end hold %d bytes", each)
	runtime.KeepAlive(conns)
}

// held is the memory in use: the heap behind a collection, and stacks, which each collection halves while they are mostly empty.
func held() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
