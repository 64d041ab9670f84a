package quorum

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"
)

// NoQuorum is why a round is undecided: how many nodes said what, and which
// did not and why.
type NoQuorum struct {
	Votes Votes
	// Late: a majority had accepted, but the round took Spent, which is not below Limit or
	// leaves nothing of the lock.
	Late         bool
	Spent, Limit time.Duration
	// Nodes holds a *NodeError for every node whose vote is unknown; nil if there is none.
	Nodes *multierror.Error
}

// NodeError is what was wrong with one node.
type NodeError struct {
	Node string
	Err  error
}

func (e *NodeError) Error() string { return e.Node + ": " + e.Err.Error() }
func (e *NodeError) Unwrap() error { return e.Err }

// Error is one line: the code for machines, then the sentence for people.
func (e *NoQuorum) Error() string {
	var b strings.Builder
	v := e.Votes
	fmt.Fprintf(&b, "NOQUORUM %d yes, %d no, %d unknown", v.Yes, v.No, v.Unknown)
	if v.Open > 0 {
		fmt.Fprintf(&b, ", %d not waited for", v.Open)
	}
	fmt.Fprintf(&b, " of %d nodes, need %d", v.N(), Majority(v.N()))
	if e.Late {
		fmt.Fprintf(&b, ": too late, after %v, must be below %v", e.Spent.Round(time.Millisecond/10), e.Limit)
	}
	if e.Nodes != nil {
		fmt.Fprintf(&b, " (%s)", e.Nodes.Error())
	}
	return b.String()
}

// Unwrap gives errors.Is and errors.As the nodes' errors.
func (e *NoQuorum) Unwrap() error { return e.Nodes.ErrorOrNil() }

// oneLine is for a reply and for a log line, which the library's own format would break.
func oneLine(errs []error) string {
	words := make([]string, len(errs))
	for i, err := range errs {
		words[i] = err.Error()
	}
	return strings.Join(words, "; ")
}

// explain says why the round is undecided, to be called only then. A node whose answer came too late for
// the verdict stays unknown; one that was not waited for and has answered since is counted.
func (r *Round) explain(names []string) *NoQuorum {
	e := &NoQuorum{}
	for i, s := range r.slots {
		err := s.more().Doubt
		if err == nil {
			err = s.more().Err
		}
		switch {
		case err != nil:
			e.Votes.Unknown++
			e.Nodes = multierror.Append(e.Nodes, &NodeError{names[i], err})
			e.Nodes.ErrorFormat = oneLine
		case !s.heard:
			e.Votes.Open++
		case s.Vote == Yes:
			e.Votes.Yes++
		case s.Vote == No:
			e.Votes.No++
		default:
			e.Votes.Unknown++
		}
	}
	return e
}
