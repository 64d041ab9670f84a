package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checks is what each library is put through, in the order of the table.
var checks = []string{"take", "contend", "release", "release by another", "extend", "expiry", "counter"}

const (
	passed  = "ok"
	hasNone = "-"       // the library has no such thing
	refused = "refused" // the one check of a library that cannot work: it is told so, by an error
)

// row is what a suite says of one library.
type row struct {
	Language string            `json:"language"` // for people: C, JavaScript
	Library  string            `json:"library"`
	Version  string            `json:"version"`
	How      string            `json:"how"`    // over which client, by which way
	Checks   map[string]string `json:"checks"` // "ok", "-", or what went wrong
	Note     string            `json:"note"`   // why it is refused
}

func parseRow(line string) (row, error) {
	var r row
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("%w in %q", err, line)
	}
	if d.More() {
		return r, fmt.Errorf("more than one value in %q", line)
	}
	if err := r.valid(); err != nil {
		return r, fmt.Errorf("%w in %q", err, line)
	}
	return r, nil
}

// valid: a check that is forgotten must not look like one that is passed.
func (r row) valid() error {
	if r.Language == "" || r.Library == "" || r.Version == "" {
		return errors.New("no language, library or version")
	}
	want := checks
	if r.refused() {
		if want = []string{refused}; r.Note == "" {
			return errors.New("refused, and no note says why")
		}
	}
	for _, name := range want {
		if r.Checks[name] == "" {
			return fmt.Errorf("no result of %q", name)
		}
	}
	if len(r.Checks) > len(want) {
		return fmt.Errorf("other checks than %s", strings.Join(want, ", "))
	}
	if !slices.ContainsFunc(want, func(name string) bool { return r.Checks[name] != hasNone }) {
		return errors.New("nothing was checked")
	}
	return nil
}

func (r row) refused() bool {
	_, is := r.Checks[refused]
	return is
}

// failures are "name: text", in the order of the table.
func (r row) failures() (list []string) {
	for _, name := range append([]string{refused}, checks...) {
		if text := r.Checks[name]; text != "" && text != passed && text != hasNone {
			list = append(list, name+": "+oneLine(text))
		}
	}
	return list
}

// name is library and version, and how it was used.
func (r row) name() string {
	if r.How == "" {
		return r.Library + " " + r.Version
	}
	return r.Library + " " + r.Version + ", " + r.How
}

// String is the line that is shown as the row comes in.
func (r row) String() string {
	switch failures := r.failures(); {
	case failures != nil:
		return r.name() + "  FAILED\n    " + strings.Join(failures, "\n    ")
	case r.refused():
		return r.name() + "  refused, as it must be: " + r.Note
	}
	return r.name() + "  ok"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
