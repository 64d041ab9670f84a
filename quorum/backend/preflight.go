package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"redlockd/quorum"
)

// Finding is one thing that is wrong with a node. This file judges what a node has said; examine.go asks.
type Finding struct {
	Code  string // a short stable word
	Fatal bool   // a node with it is not used; else it is a warning
	What  string // a sentence whose subject is the node, which it does not name
	Hint  string // what to do
}

// Error implements error.
func (f Finding) Error() string { return f.What + ": " + f.Hint }

func fatal(code, hint, what string, args ...any) Finding {
	return Finding{Code: code, Fatal: true, What: fmt.Sprintf(what, args...), Hint: hint}
}

func warning(code, hint, what string, args ...any) Finding {
	return Finding{Code: code, What: fmt.Sprintf(what, args...), Hint: hint}
}

const (
	oldest     = 5 // the first Redis with CLIENT ID
	hintMaster = "nodes are independent masters: take the replica out, or make it one with REPLICAOF NO ONE"
	hintPlain  = "nodes are plain masters: take an instance of its own for each"
	hintAlone  = "nodes are for locks alone: move the rest elsewhere, or take an instance of its own"
	hintRights = "see the README, Rights on the nodes"
)

// inspect judges a node by what INFO says, without a section: several sections in one INFO need Redis 7. db is the
// database in use, own how many keys without expiry redlockd itself has in it: 0 or 1. Fatal findings come first.
func inspect(info string, db, own int) []Finding {
	if infoField(info, "redis_version") == "" { // Valkey tells it too
		return []Finding{fatal("not-redis", "see what listens there", "does not say that it is Redis or Valkey")}
	}
	return fatalFirst(slices.Concat(identity(info), topology(info), memory(info), condition(info), foreign(info, db, own)))
}

func fatalFirst(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		switch {
		case a.Fatal == b.Fatal:
			return 0
		case a.Fatal:
			return -1
		default:
			return 1
		}
	})
	return found
}

func identity(info string) (found []Finding) {
	if infoField(info, "redlockd_version") != "" {
		found = append(found, fatal("not-redis", "name the masters behind it", "is a redlockd itself"))
	}
	version := infoField(info, "redis_version")
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldest {
		found = append(found, fatal("version", "use Redis 5 or later, or Valkey", "is Redis %s, which is too old", clean(version)))
	}
	if infoField(info, "run_id") == "" {
		found = append(found, fatal("no-run-id", "use Redis or Valkey itself, not a proxy or an imitation",
			"does not tell its run_id, so that a restart of it could not be noticed"))
	}
	return found
}

func twin(name string) Finding {
	return fatal("twin", "name each instance once: it must not vote twice", "is the same instance as %s", name)
}

// mode is standalone, cluster or sentinel.
func mode(info string) string {
	if infoField(info, "cluster_enabled") == "1" {
		return "cluster"
	}
	if m := infoField(info, "redis_mode"); m != "" {
		return m
	}
	return infoField(info, "server_mode") // so Valkey calls it
}

func topology(info string) (found []Finding) {
	switch mode(info) {
	case "cluster":
		found = append(found, fatal("cluster", hintPlain, "runs in cluster mode, with keys that move and masters that change"))
	case "sentinel":
		return append(found, fatal("sentinel", "name the masters, not those who watch them", "is a sentinel, which holds no keys"))
	}
	switch role := infoField(info, "role"); role {
	case "master":
	case "slave", "replica":
		of := net.JoinHostPort(clean(infoField(info, "master_host")), clean(infoField(info, "master_port")))
		found = append(found, fatal("replica", hintMaster, "is a replica of %s", of)) // R9
	default:
		found = append(found, fatal("replica", hintMaster, "does not say that it is a master (role %q)", clean(role)))
	}
	if n := number(info, "connected_slaves"); n > 0 {
		found = append(found, warning("replicas",
			"let nobody promote them behind this address: they lag, and locks would be lost",
			"has %s", count(n, "replica"))) // R9
	}
	return found
}

func memory(info string) (found []Finding) {
	if p := infoField(info, "maxmemory_policy"); p != "" && p != "noeviction" {
		found = append(found, fatal("evicts", "set maxmemory-policy noeviction, also in its configuration file",
			"would drop locks when its memory is full (maxmemory-policy %s)", clean(p)))
	}
	used, limit := number(info, "used_memory"), number(info, "maxmemory")
	if limit > 0 && float64(used) > 0.9*float64(limit) {
		found = append(found, warning("memory", "raise maxmemory: a full node refuses every lock",
			"has used %.0f%% of its maxmemory", 100*float64(used)/float64(limit)))
	}
	return found
}

func condition(info string) (found []Finding) {
	if infoField(info, "loading") == "1" {
		found = append(found, warning("loading", "wait until it has", "is loading its data, and does not vote meanwhile"))
	}
	for _, name := range []string{"aof_last_write_status", "rdb_last_bgsave_status"} {
		if v := infoField(info, name); v != "" && v != "ok" {
			found = append(found, warning("persistence", "see its log and its disk: it may refuse locks until it can write",
				"could not write to its disk (%s:%s)", name, clean(v)))
		}
	}
	return found
}

// foreign finds keys that are no locks. Every lock has an expiry (R8). A foreign key with one looks like a lock.
func foreign(info string, db, own int) (found []Finding) {
	var others []string
	for line := range strings.Lines(info) {
		var at, keys, expires int
		if n, _ := fmt.Sscanf(line, "db%d:keys=%d,expires=%d", &at, &keys, &expires); n != 3 {
			continue
		}
		if at != db {
			others = append(others, strconv.Itoa(at))
		} else if n := keys - expires - own; n > 0 {
			found = append(found, warning("foreign", hintAlone, "has %s without expiry in its database %d, no locks", count(n, "key"), db))
		}
	}
	if len(others) > 0 {
		found = append(found, warning("foreign", hintAlone, "has keys in other databases (%s)", strings.Join(others, ", ")))
	}
	return found
}

// said is a command that the node has answered with an error; its name is as ACL SETUSER takes it.
type said struct{ name, err string }

// rights judges what became of the commands that redlockd needs.
func rights(told []said) (found []Finding) {
	var forbidden, unknown []string
	keys, other := false, ""
	note := func(names []string, name string) []string {
		if slices.Contains(names, name) {
			return names
		}
		return append(names, name)
	}
	for _, s := range told {
		switch kindOf(s.err) {
		case noCommand:
			forbidden = note(forbidden, s.name)
		case noKeys:
			keys = true
		case unknownCommand:
			unknown = note(unknown, s.name)
		case noLogin:
			return []Finding{refused(s)}
		case elsewhere:
		default:
			if other == "" {
				other = clean(s.err)
			}
		}
	}
	if len(forbidden) > 0 {
		found = append(found, fatal("rights", "give it +"+strings.Join(forbidden, " +")+" ("+hintRights+")",
			"does not let its user run %s", strings.Join(forbidden, ", ")))
	}
	if keys {
		found = append(found, fatal("rights", "give it ~* ("+hintRights+")", "does not let its user use the keys %s*", quorum.Reserved))
	}
	if len(unknown) > 0 {
		found = append(found, fatal("commands", "do not rename or disable them", "does not know %s", strings.Join(unknown, ", ")))
	}
	if other != "" {
		found = append(found, warning("refuses", "see its log: while that lasts its vote is missing", "refuses requests (%s)", other))
	}
	return found
}

// kind of an error that a node has answered with.
type kind int

const (
	otherwise      kind = iota
	noCommand           // the user may not run it
	noKeys              // the user may not use the key
	unknownCommand      // renamed, disabled, or not Redis
	noLogin             // nobody has logged in
	elsewhere           // INFO tells it better, or another command does
)

// kindOf knows the words of Redis 5 to 8 and Valkey. Inside a script the prefix is ERR, not NOPERM.
func kindOf(text string) kind {
	code, _, _ := strings.Cut(text, " ")
	low := strings.ToLower(text)
	has := func(s string) bool { return strings.Contains(low, s) }
	switch {
	case code == "LOADING", code == "READONLY", code == "MASTERDOWN", code == "NOSCRIPT":
		return elsewhere
	case code == "NOAUTH":
		return noLogin
	case has("permissions to run"), has("can't run this command"):
		return noCommand
	case code == "NOPERM", has("acl failure"), has("the user executing the script can't"):
		return noKeys
	case has("unknown") && has("command"):
		return unknownCommand
	}
	return otherwise
}

// refused judges a node that did not let us log in, or tells nothing of itself: nothing else is known of it.
func refused(s said) Finding {
	low := strings.ToLower(s.err)
	has := func(words string) bool { return strings.Contains(low, words) }
	switch {
	case has("noauth"):
		return fatal("password", "write redis://user:password@host:port or redis://:password@host:port", "wants a password")
	case has("wrongpass"), has("invalid password"):
		return fatal("password", "see the user and the password in the list of nodes, and ACL LIST on the node",
			"does not accept the user or the password")
	case has("no password is set"), has("without any password configured"):
		return fatal("password", "take the password out of the list of nodes, or set one on the node", "was given a password and has none")
	case has("wrong number of arguments for 'auth'"):
		return fatal("password", "write redis://:password@host:port, without a user", "knows no users: it is older than Redis 6")
	case has("not allowed in cluster mode"):
		return fatal("cluster", hintPlain, "runs in cluster mode, with keys that move and masters that change")
	case has("db index is out of range"):
		return fatal("database", "see databases in its configuration, or use database 0", "does not have the database")
	case strings.HasPrefix(s.err, "DENIED"):
		return fatal("protected", "give it a password, or bind it to an address that only your machines reach", "is in protected mode")
	case kindOf(s.err) == noCommand:
		return fatal("rights", "give it +"+s.name+" ("+hintRights+")", "does not let its user run %s", s.name)
	}
	return fatal("refuses", "see its log", "refuses %s (%s)", s.name, clean(s.err))
}

// unreached judges a node that has said nothing that can be understood.
func unreached(err error) Finding {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fatal("unreachable", "see its name in the list of nodes, and the resolver", "has a name that leads nowhere (%s)", clean(dns.Err))
	case errors.Is(err, errGarbage), strings.HasPrefix(err.Error(), "redigo:"):
		return fatal("not-redis", "see what listens there; TLS to nodes is not supported yet", "does not speak the Redis protocol")
	case errors.Is(err, context.Canceled):
		return fatal("unreachable", "check again", "was not asked: the check was broken off")
	case errors.Is(err, os.ErrPermission):
		return fatal("unreachable", "let redlockd's user open it", "cannot be reached (permission denied)")
	}
	return fatal("unreachable", "see that it runs, and that its address, its bind and firewalls let this machine in",
		"cannot be reached (%s)", clean(plain(err).Error()))
}

// clean is a node's text as it may be shown: one line, not endless, nothing that steers a terminal.
func clean(text string) string {
	const most = 160
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func number(info, name string) int {
	n, _ := strconv.Atoi(infoField(info, name))
	return n
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
