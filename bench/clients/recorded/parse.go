package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A conversation is a text of
//
//	language: .NET              what goes into the table; also library, version, how, note, needs (of
//	                            the server, a version), alone (yes: it disturbs others)
//	script release              a script, its lines indented, up to "end"
//	connect                     what every connection begins with, or connect NAME: what that one begins with
//	check take                  one of the checks, or refused
//
// and in connect and check of exchanges:
//
//	1> SET $key $t1 NX          connection 1 sends a command; several in a row go out in one write
//	1< +OK                      and reads a reply, which has to match: see match.go
//	await 1500                  the next exchange is repeated as long as all its "<" match, until all its "=" match, and
//	1> SET $key $t2 NX          that before 1500 ms have passed is a failure
//	1< nil
//	1= +OK
//	increment                   (counter) what is done under the lock
//
// In connect the connection's name is left out. Words are separated by spaces; one in double quotes is a Go string.
// $key is a key that nobody else has, $t1 the token of connection 1, $lua.release and $sha.release the script and its
// SHA1, $at+30 the second in which the check began plus 30.

// checks are what a library is put through; those it lacks are not in its file.
var checks = []string{"take", "contend", "release", "release by another", "extend", "expiry", "counter"}

const refused = "refused"

type conversation struct {
	file    string
	header  map[string]string
	scripts map[string]string
	connect map[string][]step // by connection, "" for any
	checks  map[string][]step
}

// step is one exchange, or an increment.
type step struct {
	line      int
	conn      string
	send      [][]string
	read      []string // patterns
	free      []string // of an await: what is read once it is over
	await     bool
	notBefore int // milliseconds, of an await
	increment bool
}

var headers = []string{"language", "library", "version", "how", "note", "needs", "alone"}

type parser struct {
	c       *conversation
	line    int
	script  string
	inside  *[]step // the section
	connect bool    // it is a connect
	waiting *step   // an await without its exchange
}

func parse(file, text string) (*conversation, error) {
	c := &conversation{
		file: file, header: make(map[string]string), scripts: make(map[string]string),
		connect: make(map[string][]step), checks: make(map[string][]step),
	}
	p := &parser{c: c}
	sections := make(map[string]*[]step)
	for line := range strings.Lines(text) {
		p.line++
		if err := p.read(strings.TrimRight(line, "\n"), sections); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
	}
	for name, steps := range sections {
		kind, rest, _ := strings.Cut(name, " ")
		if len(*steps) == 0 {
			return nil, fmt.Errorf("%s: %s is empty", file, name)
		}
		if kind == "connect" {
			c.connect[rest] = *steps
		} else {
			c.checks[rest] = *steps
		}
	}
	return c, p.complete()
}

func (p *parser) read(line string, sections map[string]*[]step) error {
	if p.script != "" {
		if line == "end" {
			p.script = ""
		} else {
			p.c.scripts[p.script] += strings.TrimPrefix(line, "  ") + "\n"
		}
		return nil
	}
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	first, rest, _ := strings.Cut(line, " ")
	switch {
	case first == "script":
		p.script = rest
	case first == "connect" || first == "check":
		if first == "check" && rest != refused && !slices.Contains(checks, rest) {
			return fmt.Errorf("no check is called %q", rest)
		}
		if sections[line] != nil {
			return fmt.Errorf("%s stands here twice", line)
		}
		p.inside, p.connect = new([]step), first == "connect"
		sections[line] = p.inside
	case strings.HasSuffix(first, ":") && p.inside == nil:
		if !slices.Contains(headers, strings.TrimSuffix(first, ":")) {
			return fmt.Errorf("no header is called %q", first)
		}
		p.c.header[strings.TrimSuffix(first, ":")] = rest
	case p.inside == nil:
		return fmt.Errorf("%q stands outside of connect and check", line)
	case first == "increment":
		*p.inside = append(*p.inside, step{line: p.line, increment: true})
	case first == "await":
		p.waiting = &step{await: true}
		if rest == "" {
			return nil
		}
		var err error
		p.waiting.notBefore, err = strconv.Atoi(rest)
		return err
	default:
		return p.exchange(first, rest)
	}
	return nil
}

// exchange reads a line of one: what is sent, or a reply.
func (p *parser) exchange(first, rest string) error {
	conn, way := first[:len(first)-1], first[len(first)-1]
	if (conn == "") != p.connect {
		return fmt.Errorf("%q: connections are named in checks, and only there", first)
	}
	steps := *p.inside
	last := &step{}
	if len(steps) > 0 {
		last = &steps[len(steps)-1]
	}
	replies := len(last.read) + len(last.free)
	switch {
	case way == '>':
		command, err := words(rest)
		if err != nil || len(command) == 0 {
			return fmt.Errorf("bad command %q: %v", rest, err)
		}
		if p.waiting == nil && last.send != nil && last.conn == conn && replies == 0 {
			last.send = append(last.send, command)
			return nil
		}
		next := step{}
		if p.waiting != nil {
			next, p.waiting = *p.waiting, nil
		}
		next.line, next.conn, next.send = p.line, conn, [][]string{command}
		*p.inside = append(steps, next)
	case last.send == nil || last.conn != conn:
		return fmt.Errorf("a reply without a command before it")
	case way == '<':
		last.read = append(last.read, rest)
	case way == '=' && last.await:
		last.free = append(last.free, rest)
	default:
		return fmt.Errorf("%q is neither >, < nor =", first)
	}
	return nil
}

// words splits a command.
func words(text string) ([]string, error) {
	var list []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] != '"' {
			word, rest, _ := strings.Cut(text, " ")
			list, text = append(list, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, err
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		list, text = append(list, word), text[len(quoted):]
	}
	return list, nil
}

// complete looks for what would make a check pass that checks nothing.
func (p *parser) complete() error {
	for _, name := range []string{"language", "library", "version", "how"} {
		if p.c.header[name] == "" {
			return fmt.Errorf("%s: no %s", p.c.file, name)
		}
	}
	if p.script != "" || p.waiting != nil || len(p.c.checks) == 0 {
		return fmt.Errorf("%s: it ends within a script or an await, or has no check", p.c.file)
	}
	for _, sections := range []map[string][]step{p.c.connect, p.c.checks} {
		for _, name := range slices.Sorted(maps.Keys(sections)) {
			for _, s := range sections[name] {
				// SUBSCRIBE answers for each channel, so that there may be more replies than commands.
				if !s.increment && len(s.read) < len(s.send) || s.await && len(s.free) != len(s.read) {
					return fmt.Errorf("%s:%d: not a reply for each command", p.c.file, s.line)
				}
				if err := p.known(s); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// known looks for names of scripts that there are not.
func (p *parser) known(s step) error {
	for _, command := range s.send {
		for _, word := range command {
			for _, name := range variable.FindAllStringSubmatch(word, -1) {
				if _, script, is := strings.Cut(name[1], "."); is && p.c.scripts[script] == "" {
					return fmt.Errorf("%s:%d: no script is called %q", p.c.file, s.line, script)
				}
			}
		}
	}
	return nil
}
