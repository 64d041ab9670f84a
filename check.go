package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"redlockd/conf"
	"redlockd/quorum/backend"
)

// check examines the nodes, if any are given, prints a line for each, or for each thing that is wrong with it, and
// returns the exit status: 0 if nothing is wrong, warnings included.
func check(ctx context.Context, config conf.Config, out io.Writer) int {
	if len(config.Nodes) == 0 {
		return 0
	}
	nodes := nodeOptions(config, dialNode, backend.Clock, slog.New(slog.DiscardHandler))
	unusable, doubtful := 0, 0
	for i, r := range backend.Check(ctx, nodes) {
		name := nodes[i].Name
		if len(r.Findings) == 0 {
			fmt.Fprintf(out, "%s: ok, %s, run_id %s\n", name, r.Version, r.RunID)
			continue
		}
		for _, f := range r.Findings {
			word := "warning: "
			if f.Fatal {
				word = ""
			}
			fmt.Fprintf(out, "%s: %s%s: %s — %s\n", name, word, f.Code, f.What, f.Hint)
		}
		if r.Findings[0].Fatal {
			unusable++
		} else {
			doubtful++
		}
	}
	if unusable+doubtful == 0 {
		fmt.Fprintf(out, "redlockd: nodes: %d, all fine\n", len(nodes))
		return 0
	}
	usable, majority := len(nodes)-unusable, len(nodes)/2+1
	fmt.Fprintf(out, "redlockd: nodes: %d, not usable: %d, with warnings: %d", len(nodes), unusable, doubtful)
	if usable < majority {
		fmt.Fprintf(out, "; a majority is %d: no lock can be taken", majority)
	}
	fmt.Fprintln(out)
	return 1
}
