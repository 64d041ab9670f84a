package conf

import (
	"strings"
)

// flags reads --name=value and --name value; a boolean's value needs the = and may be left out. The flag package of Go
// would stop at the first mistake. What is no option is told by its place only: it may be a node with its password.
func (l *loader) flags(args []string) (found []given) {
	for i := 0; i < len(args); i++ {
		name, text, joined := cutFlag(args[i])
		if name == "" {
			l.mistake("argument %d is not an option: options begin with two dashes (--nodes), and a boolean's value follows a =", i+1)
			continue
		}
		o, known := l.options[name]
		hasNext := !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--")
		switch {
		case !known:
			l.mistake("--%s: there is no such option", name)
			if hasNext {
				i++ // most likely its value; to complain of it too would help nobody
			}
			continue
		case !joined && o.bare():
			text = "true"
		case !joined && !hasNext:
			l.mistake("--%s: the value is missing", name)
			l.spoilt[name] = true
			continue
		case !joined:
			i++
			text = args[i]
		}
		found = append(found, given{o, text, "--" + name})
	}
	return found
}

// cutFlag answers no name for what does not look like a flag at all.
func cutFlag(arg string) (name, text string, joined bool) {
	if arg == "-h" {
		return "help", "", false
	}
	name, text, joined = strings.Cut(arg, "=")
	name, dashes := strings.CutPrefix(name, "--")
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }
	if !dashes || len(name) > maxQuote || strings.ContainsFunc(name, odd) {
		return "", "", false
	}
	return name, text, joined
}
