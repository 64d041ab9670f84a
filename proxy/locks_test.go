package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlockd/commands"
	"redlockd/quorum"
)

// An expiry in the past deletes the key, on the same condition, whether it is told from now or by the calendar.
func TestExpiryInThePastDeletes(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for line, want := range map[string]string{
		"EXPIRE k 0":                "delete [k]",
		"EXPIRE k -1 XX":            "delete k if 6",
		"EXPIREAT k 1000":           "delete [k]",
		"EXPIREAT k 1000 LT":        "delete k if 8",
		"PEXPIREAT k 1000000":       "delete [k]",
		"PEXPIREAT k 1000001":       "expire k for 1ms",
		"EXPIREAT k -99999999999":   "delete [k]",
		"GETEX k PXAT 1000000":      "delete k and tell",
		"GETEX k PXAT 1000010":      "expire k for 10ms and tell",
		"PEXPIREAT k 1000010 GT":    "expire k for 10ms if 7",
		"PERSIST k":                 "expire k for 1h0m0s",
		"EXPIRE k 9999999 NX":       "expire k for 1h0m0s if 5",
		"SET k v PXAT 1000010 IFEQ": "ERR syntax error",
		"SET k v PXAT 1000000 NX":   errPast.Error(),
	} {
		var args [][]byte
		for _, word := range strings.Fields(line) {
			args = append(args, []byte(word))
		}
		var c commands.Command
		err := c.Parse(args, nil)
		c.DB = 0
		var req quorum.Request
		if err == nil {
			_, err = (&LockRules{MaxTTL: time.Hour, MaxKey: 9, MaxToken: 9}).request(&req, &c, now)
		}
		if got := asked(&req, err); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func asked(r *quorum.Request, err error) string {
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("%v %s", r.Op, r.Key)
	if r.Keys != nil {
		s = fmt.Sprintf("%v %s", r.Op, r.Keys)
	}
	if r.TTL > 0 {
		s += fmt.Sprintf(" for %v", r.TTL)
	}
	if r.If != quorum.Always {
		s += fmt.Sprintf(" if %d", r.If)
	}
	if r.Old {
		s += " and tell"
	}
	return s
}

// EXPIRETIME counts from before the round, and rounds down: never too late an instant.
func TestExpireTime(t *testing.T) {
	for _, c := range []struct {
		held         quorum.Held
		seconds, all int64
	}{
		{quorum.Held{}, -2, -2},
		{quorum.Held{Exists: true, Left: quorum.Forever}, -1, -1},
		{quorum.Held{Exists: true, Left: int64(quorum.Pad(1500*time.Millisecond) / time.Millisecond)}, 11, 11999},
	} {
		cmd := commands.Command{Verb: commands.ExpireTime, Asked: time.UnixMilli(10499)}
		if got := expireTime(&cmd, c.held); got != c.seconds {
			t.Errorf("%+v: %d", c.held, got)
		}
		cmd.Verb = commands.PExpireTime
		if got := expireTime(&cmd, c.held); got != c.all {
			t.Errorf("%+v: %d", c.held, got)
		}
	}
}
