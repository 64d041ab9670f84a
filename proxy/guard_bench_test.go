package proxy

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/redcon"
)

const benchCommands = 40

var benchBatch = strings.Repeat(resp("SET", "lock:0123456789", "token-0123456789abcdef", "NX", "PX", "30000"), benchCommands)

// The framer alone, fed and emptied as the guard does.
func BenchmarkFramer(b *testing.B) {
	f := framer{limits: (&Limits{}).filled()}
	in, out := []byte(benchBatch), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		f.feed(in)
		for f.take(out) > 0 {
		}
	}
	perCommand(b)
}

// redcon's reader without and with the guard's connection below it.
func BenchmarkRedconBare(b *testing.B) { benchRedcon(b, endless{}) }
func BenchmarkRedconGuarded(b *testing.B) {
	g := newGuard(nil, Limits{}, nil)
	c := &guardedConn{Conn: endless{}, guard: g}
	c.framer.limits = &g.limits
	benchRedcon(b, c)
}

func benchRedcon(b *testing.B, from io.Reader) {
	rd := redcon.NewReader(from)
	b.ReportAllocs()
	for b.Loop() {
		for n := 0; n < benchCommands; {
			commands, err := rd.ReadCommands()
			if err != nil {
				b.Fatal(err)
			}
			n += len(commands)
		}
	}
	perCommand(b)
}

func perCommand(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchCommands, "ns/command")
}

// endless is a client whose every packet is benchBatch.
type endless struct{ net.Conn }

func (endless) Read(p []byte) (int, error)      { return copy(p, benchBatch), nil }
func (endless) SetReadDeadline(time.Time) error { return nil }
