package conf

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fileOf writes a configuration file and answers the flag that names it.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "redlockd.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--config=" + name
}

// load is a Load that must succeed.
func load(t *testing.T, args, environ []string) Config {
	t.Helper()
	c, err := Load(args, environ)
	if err != nil {
		t.Fatalf("Load(%q, %q): %v", args, environ, err)
	}
	return c
}

// rows is the table as one list, bound to c.
func rows(c *Config) (all []option) {
	for _, g := range table(c) {
		all = append(all, g.options...)
	}
	return all
}

func TestDefaults(t *testing.T) {
	got := load(t, nil, nil)
	got.Warnings = nil
	want := Config{
		NodeTimeout: 50 * time.Millisecond, NodeSilence: 5 * time.Second, DialTimeout: time.Second,
		ReconnectMin: 50 * time.Millisecond, ReconnectMax: 2 * time.Second, PipeQueue: 65536, OwedPerNode: 16384,
		ClockTolerance: 500 * time.Millisecond,
		MaxTTL:         24 * time.Hour, OverTTL: Clamp, PadTTL: true, RoundLimit: 500 * time.Millisecond, RoundsInFlight: 1024, SplitRetries: 3,
		SplitDelay: 20 * time.Millisecond, MaxKey: 4096, MaxToken: 4096, Scripts: 1000, ScriptBytes: 16384,
		Listen: "127.0.0.1:6380", MaxClients: 10000, CommandTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		MaxArgs: 1024, MaxBulk: 65536, MaxInline: 16384, MaxCommand: 262144, MaxPipeline: 1024,
		DrainTimeout: 10 * time.Second, LogLevel: slog.LevelInfo, LogFormat: "text",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// other is a legal value for each option that is not its default, as show answers it.
var other = map[string]string{
	"nodes": "127.0.0.1:7001,[::1]:7002,/run/redis.sock?db=3", "node-timeout": "40ms", "node-silence": "900ms", "dial-timeout": "2s",
	"reconnect-min": "60ms", "reconnect-max": "3s", "pipe-queue": "100", "owed-per-node": "200",
	"clock-tolerance": "600ms",
	"max-ttl":         "1h30m", "over-ttl": "refuse", "pad-ttl": "false", "round-limit": "400ms", "rounds-in-flight": "64", "split-retries": "0",
	"split-delay": "10ms", "max-key": "1KiB", "max-token": "777", "scripts": "10", "script-bytes": "8KiB",
	"listen": "[::1]:0", "max-clients": "5", "idle-timeout": "5m", "command-timeout": "1s", "write-timeout": "2s",
	"max-args": "100", "max-bulk": "32KiB", "max-inline": "2KiB", "max-command": "1MiB", "max-pipeline": "16",
	"drain-timeout": "1s", "log-level": "warn", "log-format": "json",
	"check": "true", "version": "true", "help": "true",
}

// TestEveryOptionEveryWay sets each row of the table in each way it has, and sees that nothing else moved.
func TestEveryOptionEveryWay(t *testing.T) {
	for _, o := range rows(new(Config)) {
		if o.name == "config" {
			continue // TestConfigFile
		}
		value := other[o.name]
		ways := map[string][2][]string{
			"--x=v": {{"--" + o.name + "=" + value}},
			"--x v": {{"--" + o.name, value}},
		}
		if o.bare() {
			delete(ways, "--x v")
		}
		if o.from == everywhere {
			ways["variable"] = [2][]string{nil, {o.variable() + "=" + value}}
			text := value
			if o.inFile() != o.sample() {
				text = fmt.Sprintf("%q", value)
			}
			ways["file"] = [2][]string{{fileOf(t, o.name+" = "+text)}}
		}
		for way, given := range ways {
			t.Run(o.name+" "+way, func(t *testing.T) {
				got := load(t, given[0], given[1])
				for _, row := range rows(&got) {
					want := row.def
					if row.name == o.name {
						want = value
					}
					if shown := row.show(); row.name != "config" && shown != want {
						t.Errorf("%s is %q, want %q", row.name, shown, want)
					}
				}
			})
		}
	}
}

func TestFlagsOverEnvironmentOverFileOverDefaults(t *testing.T) {
	file := fileOf(t, "max-args = 101\nmax-clients = 101\nmax-pipeline = 101\n")
	environ := []string{"REDLOCKD_MAX_ARGS=102", "REDLOCKD_MAX_CLIENTS=102", "HOME=/root", "redlockd_max_args=1"}
	c := load(t, []string{"--max-args=99", file, "--max-args", "103"}, environ)
	got := []int{c.MaxArgs, c.MaxClients, c.MaxPipeline, c.Scripts}
	if want := []int{103, 102, 101, 1000}; !slices.Equal(got, want) {
		t.Errorf("flag, variable, file, default: %v, want %v", got, want)
	}
}

func TestConfigFile(t *testing.T) {
	flag := fileOf(t, "max-args = 20\n")
	environ := []string{"REDLOCKD_CONFIG=" + strings.TrimPrefix(flag, "--config=")}
	if c := load(t, nil, environ); c.MaxArgs != 20 || "--config="+c.File != flag {
		t.Errorf("by variable: max-args %d from %s", c.MaxArgs, c.File)
	}
	if c := load(t, []string{fileOf(t, "max-args = 21\n")}, environ); c.MaxArgs != 21 {
		t.Errorf("the flag must win over the variable, got %d", c.MaxArgs)
	}
}

func TestTOMLsOwnWays(t *testing.T) {
	c := load(t, []string{fileOf(t, `
# a comment
max-args = 1_000   # grouped
max-clients = 0x10
max-bulk = 65_000
"max-key" = '2 kb'
pad-ttl = false
nodes = [
  "redis://u:a%2Cb,c@h:1", # a comma in a password is no new node
  '/with,comma', "h:2/4",
]
`)}, nil)
	want := []Node{
		{Network: "tcp", Address: "h:1", Username: "u", Password: "a,b,c"},
		{Network: "unix", Address: "/with,comma"},
		{Network: "tcp", Address: "h:2", DB: 4},
	}
	if !slices.Equal(c.Nodes, want) {
		t.Errorf("nodes: %v", c.Nodes)
	}
	if c.MaxArgs != 1000 || c.MaxClients != 16 || c.MaxBulk != 65000 || c.MaxKey != 2048 || c.PadTTL {
		t.Errorf("%+v", c)
	}
}

func TestBooleansStandAlone(t *testing.T) {
	c := load(t, []string{"--check", "--pad-ttl", "--version=false", "-h"}, []string{"REDLOCKD_PAD_TTL=false"})
	if !c.Check || !c.PadTTL || c.Version || !c.Help {
		t.Errorf("%+v", c)
	}
}

func TestHelpSurvivesMistakes(t *testing.T) {
	if c, err := Load([]string{"--bogus", "--help"}, nil); err == nil || !c.Help {
		t.Errorf("help %v, error %v", c.Help, err)
	}
}

func TestKubernetesServiceLinksAreNotOurs(t *testing.T) {
	load(t, nil, []string{
		"REDLOCKD_SERVICE_HOST=10.0.0.1", "REDLOCKD_SERVICE_PORT=6380", "REDLOCKD_SERVICE_PORT_REDIS=6380",
		"REDLOCKD_PORT=tcp://10.0.0.1:6380", "REDLOCKD_PORT_6380_TCP=tcp://10.0.0.1:6380", "REDLOCKD_PORT_6380_TCP_PROTO=tcp",
		"REDLOCKD_PORT_6380_TCP_PORT=6380", "REDLOCKD_PORT_6380_TCP_ADDR=10.0.0.1", "REDLOCKD_METRICS_SERVICE_HOST=10.0.0.1",
	})
	for _, o := range rows(new(Config)) {
		if serviceLink.MatchString(o.variable() + "=" + o.sample()) {
			t.Errorf("%s would be taken for a service link", o.variable())
		}
	}
}

// TestTableIsComplete: a row without its reason, unit or advice is not finished, and no name stands twice.
func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range rows(new(Config)) {
		if seen[o.name] {
			t.Errorf("%s stands twice", o.name)
		}
		seen[o.name] = true
		if o.unit == "" || o.why == "" && o.from != flagOnly || o.choose == "" || o.sample() == "" || len(o.toml) == 0 {
			t.Errorf("%s: a word is missing", o.name)
		}
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.toml")
	long := fileOf(t, strings.Repeat("#", maxFile+1))
	for flag, want := range map[string]string{
		"--config=" + missing: fmt.Sprintf("config: cannot read the file %q: no such file or directory", missing),
		long:                  "it is longer than 1MiB",
	} {
		if _, err := Load([]string{flag}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	load(t, []string{fileOf(t, strings.Repeat("#", maxFile))}, nil)
	_, err := Load([]string{"--config=" + missing}, nil)
	if len(split(err)) != 1 || errors.Unwrap(split(err)[0]) == nil {
		t.Errorf("the cause is lost: %v", err)
	}
}
