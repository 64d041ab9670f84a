// Command recorded plays what lock libraries put on the wire where the libraries themselves cannot be installed: what each
// sends, as it sends it, with the replies that it needs. Each file in conversations/ is one library; parse.go says how
// to read them.
//
//	REDLOCKD_HOST=127.0.0.1 REDLOCKD_PORT=6379 recorded [name...]
package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
)

//go:embed conversations/*.txt
var files embed.FS

// side is how many libraries are played at once: most of the time is spent waiting for locks to expire.
const side = 4

// row is one line of stdout.
type row struct {
	Language string            `json:"language"`
	Library  string            `json:"library"`
	Version  string            `json:"version"`
	How      string            `json:"how"`
	Checks   map[string]string `json:"checks"`
	Note     string            `json:"note"`
}

func main() {
	host, port := os.Getenv("REDLOCKD_HOST"), os.Getenv("REDLOCKD_PORT")
	if host == "" || port == "" {
		fail("REDLOCKD_HOST and REDLOCKD_PORT say where the server is")
	}
	all, err := load()
	if err != nil {
		fail(err.Error())
	}
	if only := os.Args[1:]; len(only) > 0 {
		all = slices.DeleteFunc(all, func(c *conversation) bool { return !slices.Contains(only, c.file) })
	}
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, result := range playAll(all, net.JoinHostPort(host, port)) {
		if err := out.Encode(<-result); err != nil {
			fail(err.Error())
		}
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "recorded: "+text)
	os.Exit(1)
}

// load reads all conversations, in the order of their file names.
func load() ([]*conversation, error) {
	entries, err := files.ReadDir("conversations")
	if err != nil {
		return nil, err
	}
	var all []*conversation
	for _, entry := range entries {
		text, err := files.ReadFile("conversations/" + entry.Name())
		if err != nil {
			return nil, err
		}
		c, err := parse(strings.TrimSuffix(entry.Name(), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b *conversation) int { return cmp.Compare(a.header["language"], b.header["language"]) })
	return all, nil
}

// playAll returns one channel for each, in their order, on which its row comes.
func playAll(all []*conversation, address string) []chan row {
	results := make([]chan row, len(all))
	slots := make(chan struct{}, side)
	var together sync.RWMutex
	for i, c := range all {
		results[i] = make(chan row, 1)
		go func() {
			if c.header["alone"] == "" {
				together.RLock()
				defer together.RUnlock()
			} else {
				together.Lock()
				defer together.Unlock()
			}
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] <- play(c, address)
		}()
	}
	return results
}

// play puts one library through the checks it has.
func play(c *conversation, address string) row {
	r := row{
		Language: c.header["language"], Library: c.header["library"], Version: c.header["version"],
		How: "recorded: " + c.header["how"], Note: c.header["note"], Checks: make(map[string]string),
	}
	if _, is := c.checks[refused]; is {
		r.Checks[refused] = outcome(c.play(refused, address))
		return r
	}
	for _, name := range checks {
		r.Checks[name] = "-"
		if _, has := c.checks[name]; has {
			r.Checks[name] = outcome(c.play(name, address))
		}
	}
	return r
}

func outcome(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}
