package backend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gomodule/redigo/redis"

	"redlockd/quorum"
)

var errGarbage = errors.New("garbage from the node")

// Report is what Check has found out about a node.
type Report struct {
	Version  string    // "redis 7.0.15", "valkey 8.1.1"; empty if it was not told
	RunID    string    // of the instance; empty if it was not told
	Findings []Finding // fatal ones first; empty: the node is fine
}

// Check examines the nodes, all at once. It takes as long as the slowest, bounded by its DialTimeout. Of the options it
// needs those that say how to connect.
func Check(ctx context.Context, nodes []Options) []Report {
	reports := make([]Report, len(nodes))
	var wait sync.WaitGroup
	for i, o := range nodes {
		wait.Go(func() { reports[i] = check(ctx, o) })
	}
	wait.Wait()
	first := map[string]string{} // run_id → the node that told it
	for i := range reports {
		r := &reports[i]
		if name, again := first[r.RunID]; again {
			r.Findings = append([]Finding{twin(name)}, r.Findings...)
		} else if r.RunID != "" {
			first[r.RunID] = nodes[i].Name
		}
	}
	return reports
}

func check(ctx context.Context, o Options) Report {
	ctx, cancel := context.WithTimeout(ctx, o.DialTimeout)
	defer cancel()
	var r Report
	c, _, err := login(ctx, o)
	if err == nil {
		defer c.Close()
		var info string
		info, r.Findings, err = examine(c, o.DB)
		r.RunID = clean(infoField(info, "run_id"))
		if v := infoField(info, "valkey_version"); v != "" {
			r.Version = "valkey " + clean(v)
		} else if v := infoField(info, "redis_version"); v != "" {
			r.Version = "redis " + clean(v)
		}
	}
	switch {
	case err == nil:
	case refusal(err):
		r.Findings = []Finding{refused(said{loginStep(err), err.Error()})}
	default:
		r.Findings = []Finding{unreached(err)}
	}
	return r
}

// loginStep is the command that was refused during login. AUTH needs no right.
func loginStep(err error) string {
	if kindOf(err.Error()) == noCommand {
		return "select"
	}
	return "the login"
}

// discreet keeps the password out of what a node has answered to AUTH: a server that does not know AUTH repeats its
// arguments, or the beginning of them.
func discreet(err error, password string) error {
	var e redis.Error
	if !errors.As(err, &e) || refused(said{"the login", string(e)}).Code == "password" {
		return err // Redis's own words
	}
	text, _, _ := strings.Cut(string(e), ", with args")
	return redis.Error(strings.ReplaceAll(text, password, "***"))
}

// examine asks a node who it is and what we may do, on a connection that has logged in and is used for nothing else
// meanwhile. The error is that of a broken connection; what the node refuses is a finding.
func examine(c redis.Conn, db int) (info string, found []Finding, err error) {
	defer recoverGarbage(&err)
	info, err = redis.String(c.Do("INFO"))
	switch {
	case err != nil && refusal(err):
		return "", []Finding{refused(said{"info", err.Error()})}, nil
	case err != nil:
		return "", nil, err
	}
	own := 1 // as many as there may be
	var told []said
	if m := mode(info); m != "cluster" && m != "sentinel" { // what those refuse says nothing
		if told, own, err = try(c); err != nil {
			return "", nil, err
		}
	}
	found = inspect(info, db, own)
	if len(found) == 1 && found[0].Code == "not-redis" {
		return info, found, nil
	}
	return info, fatalFirst(append(found, rights(told)...)), nil
}

// probe tries, in one step, the commands that redlockd runs on keys: KEYS[1] is ours and gone afterwards, KEYS[2] is
// where the node's mark is. It answers how many of the latter there are, then the name and the error of each
// command that was refused. What reads at random comes last: before Redis 5 nothing could be written behind it.
var probe = newScript(`local told = {0}
local function try(name, ...)
  local r = redis.pcall(name, ...)
  if type(r) == 'table' and r.err then
    told[#told + 1] = string.lower(name)
    told[#told + 1] = r.err
  end
  return r
end
try('SET', KEYS[1], '', 'PX', 1000)
try('GET', KEYS[1])
try('STRLEN', KEYS[1])
try('PTTL', KEYS[1])
try('PEXPIRE', KEYS[1], 1000)
if try('EXISTS', KEYS[2]) == 1 then told[1] = 1 end
try('DEL', KEYS[1])
try('DBSIZE')
try('SCAN', '0', 'COUNT', '1')
try('TIME')
return told`)

// try runs every command that redlockd needs, and answers which were refused, and how many keys of its own without
// expiry redlockd has there, at most.
func try(c redis.Conn) (told []said, own int, err error) {
	direct := []struct {
		name string
		args []any
	}{
		{"script|load", []any{"LOAD", probe.text}},
		{"eval", []any{probe.text, 2, quorum.ProbeKey, quorum.MarkKey}},
		{"evalsha", []any{probe.hash, 2, quorum.ProbeKey, quorum.MarkKey}},
		{"client|id", []any{"ID"}},
		{"client|kill", []any{"KILL", "ID", int64(math.MaxInt64)}}, // nobody's
		{"ping", nil},
	}
	for _, d := range direct {
		command, _, _ := strings.Cut(d.name, "|")
		if err := c.Send(command, d.args...); err != nil {
			return nil, 0, err
		}
	}
	if err := c.Flush(); err != nil {
		return nil, 0, err
	}
	own = 1
	for _, d := range direct {
		reply, err := c.Receive()
		if err != nil && !refusal(err) {
			return nil, 0, err
		}
		if err != nil {
			told = append(told, said{d.name, err.Error()})
			continue
		}
		// Only the scripts answer with an array.
		if list, ok := reply.([]any); ok && len(list) > 0 {
			if n, ok := list[0].(int64); ok {
				own = int(n)
			}
			for k := 1; k+1 < len(list); k += 2 {
				told = append(told, said{text(list[k]), text(list[k+1])})
			}
		}
	}
	return told, own, nil
}

func text(v any) string {
	b, _ := v.([]byte)
	return string(b)
}

// recoverGarbage turns a panic into an error: redigo trusts lengths that a node sends.
func recoverGarbage(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %v", errGarbage, v)
	}
}
