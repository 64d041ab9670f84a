package conf

import (
	"regexp"
	"strings"
)

// environment reads the variables that begin with REDLOCKD_; each must be an option.
func (l *loader) environment(environ []string) (found []given) {
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || serviceLink.MatchString(entry) {
			continue
		}
		o, known := l.options[strings.ToLower(strings.ReplaceAll(rest, "_", "-"))]
		switch {
		case !known || o.variable() != name:
			l.mistake("%s: there is no such option", nameOf(name))
		case o.from == flagOnly:
			l.mistake("%s: can only be given as a flag, --%s", name, o.name)
		default:
			found = append(found, given{o, text, name})
		}
	}
	return found
}

// serviceLink are the variables that Kubernetes puts into every pod beside a Service named redlockd or redlockd-something:
// REDLOCKD_SERVICE_HOST, REDLOCKD_PORT_6380_TCP_ADDR and kin. Without this exception naming the Service after
// the program would keep the program from starting. REDLOCKD_PORT=6380 is no such link but a typo: theirs holds a URL.
var serviceLink = regexp.MustCompile(`^REDLOCKD_([A-Z0-9_]+_)?(` +
	`SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT=[a-z]+://|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)
