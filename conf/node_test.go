package conf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestNodes(t *testing.T) {
	host253, path107 := strings.Repeat("h", maxHost), "/"+strings.Repeat("p", maxPath-1)
	for text, want := range map[string]Node{
		"127.0.0.1:7001":                {Network: "tcp", Address: "127.0.0.1:7001"},
		"Redis-1.Example:06379":         {Network: "tcp", Address: "redis-1.example:6379"},
		"[::1]:7001":                    {Network: "tcp", Address: "[::1]:7001"},
		"[0:0::0001]:7001":              {Network: "tcp", Address: "[::1]:7001"},
		"[fe80::1%eth0]:1":              {Network: "tcp", Address: "[fe80::1%eth0]:1"},
		"h:1/2":                         {Network: "tcp", Address: "h:1", DB: 2},
		"h:65535/65535":                 {Network: "tcp", Address: "h:65535", DB: 65535},
		host253 + ":1":                  {Network: "tcp", Address: host253 + ":1"},
		"redis://h":                     {Network: "tcp", Address: "h:6379"},
		"redis://[::1]":                 {Network: "tcp", Address: "[::1]:6379"},
		"redis://h/":                    {Network: "tcp", Address: "h:6379"},
		"redis://u:p@h:1/3":             {Network: "tcp", Address: "h:1", Username: "u", Password: "p", DB: 3},
		"redis://:p%40%2F%3A+@h":        {Network: "tcp", Address: "h:6379", Password: "p@/:+"},
		"redis://u%3Au:p:p@p@h":         {Network: "tcp", Address: "h:6379", Username: "u:u", Password: "p:p@p"},
		"/run/redis.sock":               {Network: "unix", Address: "/run/redis.sock"},
		"/run//x/../redis.sock?db=1":    {Network: "unix", Address: "/run/redis.sock", DB: 1},
		path107:                         {Network: "unix", Address: path107},
		"unix:///a%3F%25%2C%20b@c":      {Network: "unix", Address: "/a?%, b@c"},
		"unix://u:p@/redis.sock?db=1":   {Network: "unix", Address: "/redis.sock", Username: "u", Password: "p", DB: 1},
		"unix://:p%2Fp@/redis.sock":     {Network: "unix", Address: "/redis.sock", Password: "p/p"},
		"unix:///path/to.sock?db=65535": {Network: "unix", Address: "/path/to.sock", DB: 65535},
	} {
		if got, err := parseNode(text); err != nil || got != want {
			t.Errorf("%s: got %#v user %q password %q, %v", text, got, got.Username, got.Password, err)
		}
	}
}

func TestNodesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "it is empty",
		"localhost":                           "the port is missing",
		"localhost:":                          "the port is missing",
		":7001":                               "the host is missing",
		"redis://":                            "the host is missing",
		"h:0":                                 "from 1 to 65535",
		"h:65536":                             "from 1 to 65535",
		"h:+1":                                "from 1 to 65535",
		"h:redis":                             "from 1 to 65535",
		"h:1/-1":                              "from 0 to 65535",
		"h:1/65536":                           "from 0 to 65535",
		"h:1/2/3":                             "from 0 to 65535",
		"redis://h:1?db=1":                    "from 1 to 65535",
		"::1:7001":                            "in brackets",
		"[::1:7001":                           "neither a name",
		"[::1]7001":                           "the port is missing",
		"[::1]:":                              "the port is missing",
		"[127.0.0.1]:1":                       "neither a name",
		"[fe80::1%e th]:1":                    "neither a name",
		"ho st:1":                             "neither a name",
		"höst:1":                              "neither a name",
		strings.Repeat("h", maxHost+1) + ":1": "neither a name",
		"rediss://h:1":                        "TLS to nodes is not supported yet",
		"http://h:1":                          "the scheme is unknown",
		"u:p@h:1":                             "credentials need redis://",
		"redis://u:p/p@h:1":                   "/ is written %2F",
		"redis://u@h:1":                       "no password",
		"redis://u:@h:1":                      "no password",
		"redis://u:%zz@h:1":                   "write it %25",
		"unix://u:p@h/path":                   "begins with /",
		"unix://path":                         "begins with /",
		"unix:///":                            "names no file",
		"/p%zz":                               "write it %25",
		"/p%00":                               "control character",
		"/p?password=x":                       "only ?db= is known",
		"/p?db=x":                             "from 0 to 65535",
		"/" + strings.Repeat("p", maxPath):    "at most 107",
	} {
		if got, err := parseNode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestNodeLists(t *testing.T) {
	list := func(n int) string {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("h%d:1", i))
		}
		return strings.Join(texts, ", ")
	}
	if ns, err := parseNodes(list(maxNodes)); err != nil || len(ns) != maxNodes {
		t.Errorf("%d nodes: %v", maxNodes, err)
	}
	for text, want := range map[string]string{
		list(maxNodes + 1):                       "32 nodes are more than 31",
		"h:1,H:01":                               "node 2 of 2: h:1 is node 1 already, and one machine must not vote twice",
		"redis://u:p@h,b:1,redis://u:q@h:6379/0": "node 3 of 3: h:6379 is node 1 already, and one machine must not vote twice",
		"/a?db=1,unix:///a?db=1":                 "node 2 of 2: /a?db=1 is node 1 already, and one machine must not vote twice",
		"a:1,":                                   "node 2 of 2: it is empty",
	} {
		if _, err := parseNodes(text); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if _, err := parseNodes("h:1,h:1/1,/h,/h?db=1"); err != nil {
		t.Errorf("another database is another node: %v", err)
	}
}

// TestListen: unlike a node, redlockd may listen on every interface and on port 0.
func TestListen(t *testing.T) {
	for text, want := range map[string]string{
		":0": ":0", "0.0.0.0:65535": "0.0.0.0:65535", "[::]:1": "[::]:1", "LocalHost:06380": "localhost:6380",
	} {
		if got, err := parseListen(text); err != nil || got != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "6380", "h", "h:", "h:65536", "::1:1", "[::1]", "/run/redlockd.sock", "h:1/2"} {
		if got, err := parseListen(text); err == nil {
			t.Errorf("%s is taken for %s", text, got)
		}
	}
}

// TestSecretsNeverShow prints a node and a whole Config in every way there is.
func TestSecretsNeverShow(t *testing.T) {
	c := load(t, []string{"--nodes=redis://hunter1:hunter2@h:1,unix://hunter1:hunter2@/s?db=1,h:2"}, nil)
	if c.Nodes[0].Password != "hunter2" || c.Nodes[1].Username != "hunter1" {
		t.Fatal("the credentials were not read")
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "config", c, "node", c.Nodes[0])
	slog.New(slog.NewTextHandler(&log, nil)).Info("text", "config", c, "node", c.Nodes[0])
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		log.String(), string(asJSON), fmt.Sprintf("%v %+v %#v %s", c, c, c, c.Nodes), fmt.Sprintf("%#v", c.Nodes[0]), fmt.Sprint(c.Warnings),
	} {
		if strings.Contains(text, "hunter") || !strings.Contains(text, "h:1") && text != fmt.Sprint(c.Warnings) {
			t.Errorf("a secret, or no node at all, in %s", text)
		}
	}
}

// TestSecretsNeverInErrors puts a node with a password wherever somebody in a hurry could.
func TestSecretsNeverInErrors(t *testing.T) {
	const secret = "redis://:hunter2@h:1"
	for _, args := range [][]string{
		{secret}, {"--" + secret}, {"--nodez", secret}, {"--nodez=" + secret}, {"--listen", secret}, {"--log-level", secret}, {"--node-timeout=" + secret},
		{"--max-bulk=" + secret}, {"--max-args=" + secret}, {"--pad-ttl=" + secret}, {"--config=" + secret},
		{"--nodes=redis://:hunter2"}, {"--nodes=redis://:hun,hunter2@h:1,redis://:hunter2/@h:1,:hunter2@h:1,redis://hunter2@h:1"},
		{"--nodes=rediss://:hunter2@h:1,http://:hunter2@h:1,redis://:hunter2@h:99999,/p?password=hunter2,unix://:hunter2/p"},
		{fileOf(t, `nodes = "redis://:hunter2@h:99999"`)}, {fileOf(t, `"`+secret+`" = 1`)}, {fileOf(t, "["+`"`+secret+`"]`)},
		{fileOf(t, "nodes = \""+secret)}, {fileOf(t, "nodes = "+secret)}, {fileOf(t, "listen = '"+secret+"'")},
	} {
		_, err := Load(args, nil)
		if err == nil {
			t.Errorf("%q is accepted", args)
		} else if strings.Contains(err.Error(), "hunter") {
			t.Errorf("a secret in %q", err)
		}
	}
	if _, err := Load(nil, []string{"REDLOCKD_NODE=" + secret, "REDLOCKD_LISTEN=" + secret}); len(lines(err)) != 2 || strings.Contains(err.Error(), "hunter") {
		t.Errorf("a secret, or a mistake missed, in %v", err)
	}
}

// FuzzNode asserts: what String shows of a node is enough to read the same node back, without its credentials, also from
// within a list. So String has all of the address and nothing of the password.
func FuzzNode(f *testing.F) {
	for _, text := range []string{
		"127.0.0.1:7001", "[::1]:7001/2", "redis://u:p%40@h:1/3", "unix://u:p@/a%20b%25?db=1", "/path.sock", "rediss://h", "[fe80::1%eth0]:1", "/a,b?db=0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := parseNode(text)
		if err != nil {
			return
		}
		bare := n
		bare.Username, bare.Password = "", ""
		again, err := parseNodes(n.String() + ",other:1")
		if err != nil || !slices.Equal(again, []Node{bare, {Network: "tcp", Address: "other:1"}}) {
			t.Errorf("%q is %q, which reads as %q: %v", text, n, again, err)
		}
	})
}

// FuzzSecret asserts: whatever stands around it, a password comes back whole or in no word at all.
func FuzzSecret(f *testing.F) {
	f.Add("user", "pass", "h:1/2", true)
	f.Add("", "@/:%,", "/path?db=1", false)
	f.Add("u", "p", "%zz", false)
	f.Fuzz(func(t *testing.T, user, tail, rest string, tcp bool) {
		const marker = "zq7hunter2"
		if strings.Contains(strings.ToLower(rest), marker) {
			return
		}
		scheme := "unix://"
		if tcp {
			scheme = "redis://"
		}
		n, err := parseNode(scheme + url.QueryEscape(user) + ":" + url.PathEscape(marker+tail) + "@" + rest)
		if err == nil && !strings.Contains(rest, "@") && n.Password != marker+tail {
			t.Errorf("the password of %q is %q", marker+tail, n.Password)
		}
		if said := strings.ToLower(fmt.Sprintf("%v %#v %v", n, n, err)); strings.Contains(said, marker) {
			t.Errorf("a secret in %s", said)
		}
	})
}
