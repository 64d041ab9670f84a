package conf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxFile bounds what is read: 31 nodes and all options fit into a hundredth of it, and /dev/zero does not.
const maxFile = mib

// file reads what a TOML file gives. It walks the syntax tree instead of decoding into a struct, because only so can all
// mistakes be told at once, each with its line.
func (l *loader) file(name string) []given {
	if name == "" {
		return nil
	}
	text, err := readFile(name)
	if err != nil {
		l.mistake("config: cannot read the file %s: %w", quote(name), err)
		return nil
	}
	return l.document(name, text)
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %s", showSize(maxFile))
	}
	return text, cause(err)
}

// cause leaves the path out of an error of the system: it is said already, or held back by quote.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

func (l *loader) document(name string, text []byte) (found []given) {
	if strings.Contains(name, "@") || strings.Contains(name, "://") {
		name = "config" // as quote does
	}
	var p unstable.Parser
	p.Reset(text)
	line := map[string]int{} // of each key's first appearance
	for p.NextExpression() {
		key, at := keyOf(&p)
		where := fmt.Sprintf("%s:%d: %s", name, at, key)
		kind := p.Expression().Kind
		first, twice := line[key]
		o, known := l.options[key]
		switch {
		case kind != unstable.KeyValue:
			l.mistake("%s: there are no tables: write every option at the top", where)
			continue
		case !known:
			l.mistake("%s: there is no such option", where)
			continue
		case o.from != everywhere:
			l.mistake("%s: cannot be given in a file", where)
			continue
		case twice:
			l.mistake("%s: stands on line %d already", where, first)
			continue
		}
		line[key] = at
		value, err := o.read(p.Expression().Value())
		if err != nil {
			l.mistake("%s: %w", where, err)
			l.spoilt[key] = true
			continue
		}
		found = append(found, given{o, value, where})
	}
	if e, ok := errors.AsType[*unstable.ParserError](p.Error()); ok {
		l.mistake("%s:%d: not TOML: %s", name, lineOf(&p, p.Range(e.Highlight)), e.Message)
	}
	return found
}

// keyOf answers the key, or table, of the expression and the line it begins on.
func keyOf(p *unstable.Parser) (key string, line int) {
	var parts []string
	for it := p.Expression().Key(); it.Next(); {
		if line == 0 {
			line = lineOf(p, it.Node().Raw)
		}
		parts = append(parts, string(it.Node().Data))
	}
	return nameOf(strings.Join(parts, ".")), line
}

func lineOf(p *unstable.Parser, r unstable.Range) int { return p.Shape(r).Start.Line }

// read turns a value of the file into the text a flag would have, after checking that its type is one the option has.
func (o option) read(v *unstable.Node) (string, error) {
	if !slices.Contains(o.toml, v.Kind) {
		return "", fmt.Errorf("the value is %s and must be %s", typeName(v.Kind), o.types())
	}
	switch v.Kind {
	case unstable.Integer: // 1_000 and 0x10 are TOML's own ways
		n, err := strconv.ParseInt(string(v.Data), 0, 64)
		if err != nil {
			return "", errors.New("the number does not fit")
		}
		return strconv.FormatInt(n, 10), nil
	case unstable.Array:
		return join(v)
	}
	return string(v.Data), nil
}

// join makes an array of strings a list. A comma within one is escaped, as it must be in a list.
func join(array *unstable.Node) (string, error) {
	var texts []string
	for it := array.Children(); it.Next(); {
		if it.Node().Kind != unstable.String {
			return "", fmt.Errorf("value %d of the array is %s and must be a string", len(texts)+1, typeName(it.Node().Kind))
		}
		texts = append(texts, strings.ReplaceAll(string(it.Node().Data), ",", "%2C"))
	}
	return strings.Join(texts, ","), nil
}

// bare: may a flag stand without a value?
func (o option) bare() bool { return o.toml[0] == unstable.Bool }

func (o option) types() string {
	var names []string
	for _, k := range o.toml {
		names = append(names, typeName(k))
	}
	return strings.Join(names, " or ")
}

func typeName(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a string"
	case unstable.Integer:
		return "an integer"
	case unstable.Bool:
		return "a boolean"
	case unstable.Array:
		return "an array"
	case unstable.InlineTable:
		return "a table"
	case unstable.Float:
		return "a float"
	}
	return "a date or time"
}
