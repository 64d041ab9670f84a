package measure

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"redlockd/bench/load"
	"redlockd/bench/rows"
)

// A peer with a client of its own over three nodes, one that is a server, and one that is left out: their rows stand beside
// the direct row of the same shape, and what was started is closed.
func TestPeers(t *testing.T) {
	needRedis(t)
	row := func(target rows.Target, nodes int) rows.Row {
		return rows.Row{Target: target, Nodes: nodes, Work: load.Take, Clients: 50, Pipeline: 1, Generator: rows.Own}
	}
	started, closed := 0, 0
	peers := []Peer{
		{
			Target: "library", Version: "v1", Rows: []rows.Row{row("library", 3)},
			Dial: func(s *Stage, client int) (load.Worker, error) {
				return load.Wire{Addr: s.Addrs[2], Work: s.Row.Work, Pipeline: 1, Keys: "lock"}.Dial(client)
			},
			Check: func(_ context.Context, s *Stage) error {
				if n, err := s.Nodes[2].Do("DBSIZE"); err != nil || n.(int64) == 0 {
					return errors.Join(err, errors.New("no lock stands"))
				}
				return errors.New("only one node has it")
			},
		},
		{
			Target: "server", Label: "a server", Version: "2", Rows: []rows.Row{row("server", 1)},
			Start: func(_ context.Context, s *Stage) (Running, error) {
				started++
				return Running{Addr: s.Addrs[0], Pids: []int{s.Nodes[0].Pid()}, Close: func() error { closed++; return nil }}, nil
			},
		},
		{Target: "absent", Missing: "apt-get install absent", Rows: []rows.Row{row("absent", 1)}},
	}
	var out, complaint bytes.Buffer
	code := Command{Name: "peers", Peers: func() ([]Peer, error) { return peers, nil }}.Run(context.Background(),
		[]string{"--quick", "--rows", "^(library|server|absent)", "--redlockd", fake(t, "")}, &out, &complaint)
	if code != exitErrors { // the check
		t.Errorf("code %d\n%s", code, complaint.String())
	}
	for _, want := range []string{
		"beside: library v1\n", "beside: a server 2\n", "left out: absent: apt-get install absent\n",
		"take, 50 clients, pipeline 1\n  one Redis, directly ", "\n  library N=3 ", "\n  a server N=1 ",
		"ERRORS: library-3/take/c50/p1: 1, for example: only one node has it\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if started != 1 || closed != 1 {
		t.Errorf("started %d, closed %d", started, closed)
	}
}

func TestPeersThatCannotBe(t *testing.T) {
	var out, complaint bytes.Buffer
	code := Command{Name: "peers", Peers: func() ([]Peer, error) { return nil, errors.New("--install wants root") }}.Run(
		context.Background(), nil, &out, &complaint)
	if code != exitUsage || !strings.Contains(complaint.String(), "--install wants root") {
		t.Errorf("code %d, %s", code, complaint.String())
	}
}
