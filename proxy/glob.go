package proxy

// glob says whether s matches a pattern as Redis has them: * any bytes, ? one, [a-z] and [^a-z] one of these, \ the next as it
// stands. It goes back to the last * only, which is enough, so that no pattern takes more than len(pattern) times len(s).
func glob(pattern, s []byte) bool {
	p, i := 0, 0
	star, from := -1, 0 // where to go on if a * takes one byte more
	for i < len(s) {
		if p < len(pattern) && pattern[p] == '*' {
			star, from = p+1, i
			p++
			continue
		}
		if next, ok := globOne(pattern, p, s[i]); ok {
			p, i = next, i+1
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, i = star, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globOne matches one byte with what stands at p, and says what follows it.
func globOne(pattern []byte, p int, b byte) (next int, ok bool) {
	if p == len(pattern) {
		return p, false
	}
	switch c := pattern[p]; {
	case c == '?':
		return p + 1, true
	case c == '[':
		return globClass(pattern, p+1, b)
	case c == '\\' && p+1 < len(pattern):
		return p + 2, pattern[p+1] == b
	default:
		return p + 1, c == b
	}
}

// globClass is what stands behind a [. One that does not end ends with the pattern.
func globClass(pattern []byte, p int, b byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		switch {
		case pattern[p] == '\\' && p+1 < len(pattern):
			p++
			ok = ok || pattern[p] == b
		case p+2 < len(pattern) && pattern[p+1] == '-':
			low, high := min(pattern[p], pattern[p+2]), max(pattern[p], pattern[p+2])
			ok = ok || low <= b && b <= high
			p += 2
		default:
			ok = ok || pattern[p] == b
		}
	}
	return min(p+1, len(pattern)), ok != not
}
