package real

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"redlockd/bench/servers"
)

// What Redis answers, redlockd answers, byte for byte: the same lines are sent to both, in RESP2 and in RESP3. A file is one
// connection, and " ; " stands between commands that are pipelined.
func TestRealAnswersAsRedis(t *testing.T) {
	f := real(t, 3)
	reference, err := servers.StartRedis(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reference.Close() })
	for _, name := range []string{"refused", "answered", "transactions", "home", "messages"} {
		text, err := os.ReadFile("testdata/asredis/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, hello := range []string{"HELLO 2", "HELLO 3"} {
			t.Run(name+" "+hello, func(t *testing.T) {
				redis, ours := talk(t, reference.Addr), talk(t, f.proxy.Addr)
				redis(hello)
				ours(hello)
				asked := 0
				for line := range strings.Lines(string(text)) {
					line = strings.TrimSpace(line)
					if line == "" || strings.HasPrefix(line, "#") {
						continue
					}
					asked++
					if want, got := redis(line), ours(line); got != want {
						t.Errorf("%s\n  redis:    %q\n  redlockd: %q", line, want, got)
					}
				}
				if asked < 20 {
					t.Errorf("only %d lines", asked)
				}
			})
		}
	}
}

// talk connects, and returns what sends a line and returns the reply as it came.
func talk(t *testing.T, address string) func(line string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	in, asked := bufio.NewReader(conn), 0
	return func(line string) string {
		asked++
		// Whatever the reply is, and however many there are: it ends where that of the PING begins.
		end := fmt.Sprintf("end-of-reply-%d", asked)
		if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "%s\r\nPING %s\r\n", strings.ReplaceAll(line, " ; ", "\r\n"), end); err != nil {
			t.Fatal(err)
		}
		var reply strings.Builder
		for !strings.HasSuffix(reply.String(), end+"\r\n") {
			part, err := in.ReadString('\n')
			if err != nil {
				t.Fatalf("%s: %s: %v, after %q", address, line, err, reply.String())
			}
			reply.WriteString(part)
		}
		return strings.TrimSuffix(reply.String(), fmt.Sprintf("$%d\r\n%s\r\n", len(end), end))
	}
}
