package quorumtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What a node reads and writes on a connection, and the replies that commands make.

const (
	nilReply = "$-1\r\n"
	okReply  = "+OK\r\n"

	notANumber = "ERR value is not an integer or out of range"
	syntax     = "ERR syntax error"
)

func intReply(n int64) string   { return fmt.Sprintf(":%d\r\n", n) }
func bulkReply(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

// errorReply is one line, whatever the text.
func errorReply(text string) string {
	return "-" + strings.NewReplacer("\r", " ", "\n", " ").Replace(text) + "\r\n"
}

func bulks(texts []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(texts))
	for _, t := range texts {
		b.WriteString(bulkReply(t))
	}
	return b.String()
}

var errProtocol = errors.New("quorumtest: not a command")

func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readLength(in, '*')
	if err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, errProtocol
	}
	args := make([]string, n)
	for i := range args {
		size, err := readLength(in, '$')
		if err != nil {
			return nil, err
		}
		if size < 0 {
			return nil, errProtocol
		}
		data := make([]byte, size+2)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, err
		}
		args[i] = string(data[:size])
	}
	return args, nil
}

func readLength(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 4 || line[0] != kind {
		return 0, errProtocol
	}
	return strconv.Atoi(line[1 : len(line)-2])
}
