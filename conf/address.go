package conf

// What stands between a scheme and a path: a host and a port. No error here repeats what it was given: a stray colon or
// comma can turn half a password into a host.

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

var (
	errNoHost   = errors.New("the host is missing")
	errNoPort   = errors.New("the port is missing")
	errPort     = errors.New("the port is not a number from 1 to 65535")
	errHost     = errors.New("the host is neither a name (letters, digits, dot, dash, underscore) nor an address")
	errBrackets = errors.New("more than one colon: an IPv6 address is written in brackets, [::1]:6379")
)

// maxHost in bytes is what DNS allows for a name.
const maxHost = 253

// splitAddress takes host:port apart; port is "" where none is written. IPv6 loses its brackets. Both come back in
// their one usual form, so that two ways of writing an address compare equal.
func splitAddress(text string) (host, port string, err error) {
	if strings.HasPrefix(text, "[") {
		return splitIPv6(text)
	}
	host, port, colon := strings.Cut(text, ":")
	switch {
	case strings.Contains(port, ":"):
		return "", "", errBrackets
	case colon && port == "":
		return "", "", errNoPort
	case !plainName(host):
		return "", "", errHost
	}
	return strings.ToLower(host), port, nil
}

func splitIPv6(text string) (host, port string, err error) {
	inner, rest, closed := strings.Cut(text[1:], "]")
	ip, err := netip.ParseAddr(inner)
	port, colon := strings.CutPrefix(rest, ":")
	switch {
	case !closed || err != nil || !ip.Is6() || !plainName(ip.Zone()):
		return "", "", errHost
	case rest != "" && (!colon || port == ""):
		return "", "", errNoPort
	}
	return ip.String(), port, nil
}

// plainName holds for the empty name too; who needs a host asks for it.
func plainName(host string) bool {
	odd := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(".-_", r)
	}
	return len(host) <= maxHost && !strings.ContainsFunc(host, odd)
}

// parsePort answers the port without leading zeros, so that 06379 and 6379 compare equal.
func parsePort(text string) (string, error) {
	n, err := parseDigits(text, 65535)
	if err != nil {
		return "", errPort
	}
	return strconv.Itoa(n), nil
}

// parseDigits reads digits only: no sign, no underscore, no space.
func parseDigits(text string, most int) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int(n) > most {
		return 0, strconv.ErrRange
	}
	return int(n), nil
}

// parseListen differs from a node's address in two things: no host means every interface, and port 0 means any.
func parseListen(text string) (string, error) {
	host, port, err := splitAddress(text)
	if err != nil {
		return "", err
	}
	if port == "" {
		return "", errNoPort
	}
	if port, err = parsePort(port); err != nil {
		return "", errors.New("the port is not a number from 0 to 65535")
	}
	return net.JoinHostPort(host, port), nil
}

// loopback: can only this machine reach it?
func loopback(listen string) bool {
	host, _, _ := net.SplitHostPort(listen)
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
