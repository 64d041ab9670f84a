package proxy

import "strings"

// argument is one of COMMAND DOCS, from which redis-cli makes its hints.
type argument struct {
	kind, name, token  string
	optional, multiple bool
	parts              []argument // of a block or a choice
}

// arguments reads commands.Spec's Syntax: words that stand for themselves in capitals, with a value behind them if a lower
// word follows; [optional]; a|choice within brackets; <a block>; what may be repeated...
func arguments(syntax string) (list []argument) {
	for rest := strings.TrimSpace(syntax); rest != ""; rest = strings.TrimSpace(rest) {
		var a argument
		switch rest[0] {
		case '[':
			inner, after := bracketed(rest, '[', ']')
			a, rest = group(inner), after
			a.optional = true
		case '<':
			inner, after := bracketed(rest, '<', '>')
			a, rest = group(inner), after
		default:
			a, rest = word(rest)
		}
		if after, many := strings.CutPrefix(rest, "..."); many {
			a.multiple, rest = true, after
		}
		list = append(list, a)
	}
	return list
}

// bracketed cuts text, which begins with open, at the bracket that closes it.
func bracketed(text string, open, shut byte) (inner, after string) {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return text[1:i], text[i+1:]
			}
		}
	}
	panic("proxy: brackets that do not close: " + text)
}

// group is what stands in brackets, as one argument.
func group(text string) argument {
	var choices []argument
	for _, one := range splitTop(text) {
		parts := arguments(one)
		if len(parts) == 1 {
			choices = append(choices, parts[0])
		} else {
			choices = append(choices, argument{kind: "block", name: "block", parts: parts})
		}
	}
	if len(choices) == 1 {
		return choices[0]
	}
	return argument{kind: "oneof", name: "option", parts: choices}
}

// splitTop at every | that is in no brackets.
func splitTop(text string) (parts []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '[' || c == '<':
			depth++
		case c == ']' || c == '>':
			depth--
		case c == '|' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// word is the first of text, with its value if it has one.
func word(text string) (a argument, rest string) {
	first, rest := cutWord(text)
	switch {
	case strings.Contains(first, "|"):
		return group(first), rest
	case first != strings.ToUpper(first):
		return argument{kind: "string", name: first}, rest
	}
	value, after := cutWord(strings.TrimPrefix(rest, " "))
	if value != "" && value[0] >= 'a' && value[0] <= 'z' {
		return argument{kind: "string", name: value, token: first}, after
	}
	return argument{kind: "pure-token", name: strings.ToLower(first), token: first}, rest
}

// cutWord ends a word at a blank, at a bracket, and at the dots behind it.
func cutWord(text string) (word, rest string) {
	end := strings.IndexAny(text, " [<")
	if end < 0 {
		end = len(text)
	}
	if dots := strings.Index(text[:end], "..."); dots >= 0 {
		end = dots
	}
	return text[:end], text[end:]
}

func (a argument) write(r *reply) {
	var flags []string
	if a.optional {
		flags = append(flags, "optional")
	}
	if a.multiple {
		flags = append(flags, "multiple")
	}
	pairs := 2
	for _, there := range []bool{a.token != "", flags != nil, a.parts != nil} {
		if there {
			pairs++
		}
	}
	r.header(pairs)
	r.text("name")
	r.text(a.name)
	r.text("type")
	r.text(a.kind)
	if a.token != "" {
		r.text("token")
		r.text(a.token)
	}
	if flags != nil {
		r.text("flags")
		r.statuses(flags)
	}
	if a.parts != nil {
		r.text("arguments")
		r.array(len(a.parts))
		for _, one := range a.parts {
			one.write(r)
		}
	}
}
