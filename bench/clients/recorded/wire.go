package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"redlockd/bench/resp"
)

// read reads one reply of RESP2 or RESP3 and writes it on one line, as match.go says.
func read(r *bufio.Reader) (string, error) { return readDeep(r, 0) }

func readDeep(r *bufio.Reader, depth int) (string, error) {
	if depth > resp.MaxDepth {
		return "", fmt.Errorf("replies nested too deep")
	}
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" {
		return "", fmt.Errorf("bad line %q", line)
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', '-', ':', '#', ',', '(':
		return line, nil
	case '_':
		return "null", nil
	case '$', '=':
		if line == "$-1" {
			return "nil", nil
		}
		text, err := readBulk(r, rest)
		if kind == '=' {
			return "=" + text, err
		}
		return strconv.Quote(text), err
	case '*', '~', '>', '%':
		if line == "*-1" {
			return "nil array", nil
		}
		return readItems(r, kind, rest, depth)
	}
	return "", fmt.Errorf("a reply cannot begin with %q", line)
}

func readBulk(r *bufio.Reader, size string) (string, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 || n > resp.MaxBulk {
		return "", fmt.Errorf("bad length %q", size)
	}
	body := make([]byte, n+2)
	_, err = io.ReadFull(r, body)
	return string(body[:n]), err
}

func readItems(r *bufio.Reader, kind byte, size string, depth int) (string, error) {
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 || n > resp.MaxArray {
		return "", fmt.Errorf("bad length %q", size)
	}
	open, end := map[byte]string{'*': "[", '~': "~[", '>': ">[", '%': "{"}[kind], "]"
	if kind == '%' {
		n, end = 2*n, "}"
	}
	items := []string{}
	for range n {
		item, err := readDeep(r, depth+1)
		if err != nil {
			return "", err
		}
		items = append(items, item)
	}
	return open + strings.Join(items, " ") + end, nil
}
