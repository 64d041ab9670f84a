package conf

import (
	"errors"
	"fmt"
	"slices"
)

// prefix of every variable of ours in the environment.
const prefix = "REDLOCKD_"

// Load reads the options: flags over environment over file over defaults. args comes without the program's name, environ
// as from os.Environ. The error joins all mistakes, each with the option and the place; the Config beside it is then
// not to be used, except for Help.
func Load(args, environ []string) (Config, error) {
	var c Config
	l := newLoader(&c)
	flags := l.flags(args)
	environment := l.environment(environ)
	file := l.file(configFile(environment, flags))
	l.apply(slices.Concat(file, environment, flags))
	l.judge()
	c.Warnings = warnings(c)
	return c, errors.Join(l.mistakes...)
}

// loader collects what is given and what is wrong with it.
type loader struct {
	options  map[string]option // by name
	spoilt   map[string]bool   // options given wrongly: laws between them and others are not judged
	mistakes []error
}

// given is one value as found: where says it in words that lead there, a flag, a variable, or file:line: key.
type given struct {
	option option
	text   string
	where  string
}

// newLoader binds the table to c and writes the defaults into it.
func newLoader(c *Config) *loader {
	l := &loader{options: map[string]option{}, spoilt: map[string]bool{}}
	for _, g := range table(c) {
		for _, o := range g.options {
			l.options[o.name] = o
			if o.def == "" {
				continue
			}
			if err := o.set(o.def); err != nil {
				panic("conf: the default of " + o.name + ": " + err.Error())
			}
		}
	}
	return l
}

func (l *loader) mistake(format string, args ...any) {
	l.mistakes = append(l.mistakes, fmt.Errorf(format, args...))
}

// apply sets the options in the order given, so that the later one wins. One that is overridden is checked as well:
// it would be a surprise on the day the flag above it goes away.
func (l *loader) apply(values []given) {
	for _, g := range values {
		if err := l.set(g); err != nil {
			l.spoilt[g.option.name] = true
			for _, e := range split(err) {
				l.mistake("%s: %w", g.where, e)
			}
		}
	}
}

// set refuses an empty value wherever it comes from: it is what a variable that was never filled leaves behind, and
// `--nodes "$NODES"` must not start the demo fleet.
func (l *loader) set(g given) error {
	if g.text == "" {
		return errors.New("the value is empty: leave the option out for its default")
	}
	return g.option.set(g.text)
}

// configFile answers the last one given: flags stand behind the environment.
func configFile(environment, flags []given) (file string) {
	for _, g := range slices.Concat(environment, flags) {
		if g.option.name == "config" {
			file = g.text
		}
	}
	return file
}

// split takes a joined error apart, so that each mistake gets its place.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
