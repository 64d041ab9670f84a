package conf

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// Node is how to reach one Redis master.
//
// Law: however a Node is printed (%v, %+v, %#v, slog, JSON), what comes out is String, which has no credentials in it.
type Node struct {
	Network  string // "tcp" or "unix"
	Address  string // host:port, IPv6 in brackets; or the path of a socket
	Username string
	Password string
	DB       int
}

const (
	maxNodes   = 31    // more would ask for a quorum of 16 and more, each one a round trip; no fleet has so many
	maxDB      = 65535 // Redis is built with 16; this is far past any `databases` in use
	maxPath    = 107   // bytes of a socket's path that Linux takes
	redisPort  = "6379"
	nodeForms  = "host:port, redis://user:password@host:port/db, /path.sock or unix://user:password@/path.sock?db=1"
	escapedSet = "%?, " // what a path must escape, so that it can stand in a list and before ?db=
)

// String is host:port or the path, and the database unless it is 0: host:port/2, /path.sock?db=2. It can be read back.
func (n Node) String() string {
	db := strconv.Itoa(n.DB)
	switch {
	case n.Network == "unix" && n.DB != 0:
		return escapePath(n.Address) + "?db=" + db
	case n.Network == "unix":
		return escapePath(n.Address)
	case n.DB != 0:
		return n.Address + "/" + db
	}
	return n.Address
}

// GoString keeps the password out of %#v.
func (n Node) GoString() string { return "conf.Node(" + n.String() + ")" }

// MarshalText keeps the password out of JSON and slog.
func (n Node) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// parseNodes reads a list, and tells of every bad node by its place in it: the text of a node may hold a password.
func parseNodes(list string) ([]Node, error) {
	var (
		nodes    []Node
		mistakes []error
		texts    = strings.Split(list, ",")
		first    = map[string]int{} // String of a node → its place
	)
	if len(texts) > maxNodes {
		mistakes = append(mistakes, fmt.Errorf("%d nodes are more than %d", len(texts), maxNodes))
	}
	for i, text := range texts {
		n, err := parseNode(strings.Trim(text, " \t\r\n"))
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("node %d of %d: %w", i+1, len(texts), err))
			continue
		}
		if at, twice := first[n.String()]; twice {
			mistakes = append(mistakes, fmt.Errorf("node %d of %d: %v is node %d already, and one machine must not vote twice", i+1, len(texts), n, at))
			continue
		}
		first[n.String()] = i + 1
		nodes = append(nodes, n)
	}
	return nodes, errors.Join(mistakes...)
}

func parseNode(text string) (Node, error) {
	scheme, rest, found := strings.Cut(text, "://")
	switch {
	case text == "":
		return Node{}, errors.New("it is empty")
	case strings.HasPrefix(text, "/"):
		return parseUnix(text)
	case !found:
		return parseTCP(text, "")
	case scheme == "redis":
		return withCredentials(rest, func(rest string) (Node, error) { return parseTCP(rest, redisPort) })
	case scheme == "unix":
		return withCredentials(rest, parseUnix)
	case scheme == "rediss":
		return Node{}, errors.New("rediss:// asks for TLS, and TLS to nodes is not supported yet")
	}
	return Node{}, errors.New("the scheme is unknown: write " + nodeForms)
}

// parseTCP reads host:port/db. The port may be missing only where there is one to fall back on.
func parseTCP(text, port string) (Node, error) {
	where, db, slash := strings.Cut(text, "/")
	if strings.Contains(text, "@") {
		return Node{}, errors.New("an @ where none belongs: credentials need redis:// before them, and in a password @ is written %40, / is written %2F, a comma %2C")
	}
	host, written, err := splitAddress(where)
	if written != "" {
		port = written
	}
	switch {
	case err != nil:
		return Node{}, err
	case host == "":
		return Node{}, errNoHost
	case port == "":
		return Node{}, errNoPort
	}
	if port, err = parsePort(port); err != nil || port == "0" {
		return Node{}, errPort
	}
	n := Node{Network: "tcp", Address: net.JoinHostPort(host, port)}
	if slash && db != "" {
		n.DB, err = parseDB(db)
	}
	return n, err
}

// parseUnix reads /path?db=1. The path is percent-decoded and cleaned, so that two ways of writing it compare equal.
func parseUnix(text string) (Node, error) {
	escaped, query, asked := strings.Cut(text, "?")
	socket, err := url.PathUnescape(escaped)
	if err != nil {
		return Node{}, errors.New("the path has a percent sign that begins no escape: write it %25")
	}
	if !strings.HasPrefix(socket, "/") {
		return Node{}, errors.New("the path of a socket begins with /")
	}
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	n := Node{Network: "unix", Address: path.Clean(socket)}
	switch {
	case strings.ContainsFunc(socket, control):
		return Node{}, errors.New("the path has a control character in it")
	case n.Address == "/":
		return Node{}, errors.New("the path names no file")
	case len(n.Address) > maxPath:
		return Node{}, fmt.Errorf("the path has %d bytes, and a socket's has at most %d", len(n.Address), maxPath)
	}
	if !asked {
		return n, nil
	}
	db, ok := strings.CutPrefix(query, "db=")
	if !ok {
		return Node{}, errors.New("behind the path only ?db= is known")
	}
	n.DB, err = parseDB(db)
	return n, err
}

// withCredentials takes user:password@ off, has the rest parsed and puts them into the node.
func withCredentials(text string, parse func(string) (Node, error)) (Node, error) {
	authority, _, _ := strings.Cut(text, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return parse(text)
	}
	n, err := parse(text[at+1:])
	if err != nil {
		return Node{}, err
	}
	n.Username, n.Password, err = parseCredentials(text[:at])
	return n, err
}

// parseCredentials wants a password. A name alone is most likely a password that lacks its colon.
func parseCredentials(text string) (user, password string, err error) {
	user, password, _ = strings.Cut(text, ":")
	user, errUser := url.PathUnescape(user)
	password, errPassword := url.PathUnescape(password)
	switch {
	case errUser != nil || errPassword != nil:
		return "", "", errors.New("the credentials have a percent sign that begins no escape: write it %25")
	case password == "":
		return "", "", errors.New("no password before the @: write user:password@ or :password@")
	}
	return user, password, nil
}

func parseDB(text string) (int, error) {
	db, err := parseDigits(text, maxDB)
	if err != nil {
		return 0, fmt.Errorf("the database is not a number from 0 to %d", maxDB)
	}
	return db, nil
}

func escapePath(p string) string {
	var b strings.Builder
	for _, c := range []byte(p) {
		if strings.IndexByte(escapedSet, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
