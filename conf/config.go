package conf

import (
	"log/slog"
	"time"
)

// Config is what main.go hands to the rest: every number, checked. What each is for, its unit and its limits are told
// once, in the table (option.go).
type Config struct {
	Help    bool // print Usage and leave; set even when Load also found mistakes
	Version bool
	Check   bool
	File    string // the file that was read, "" for none

	// Warnings are settings that work but deserve a second look, one sentence each, naming the option.
	Warnings []string

	// nodes

	Nodes        []Node // empty: the embedded demo fleet. Invariant: at most maxNodes, no two with the same String.
	NodeTimeout  time.Duration
	NodeSilence  time.Duration
	DialTimeout  time.Duration
	ReconnectMin time.Duration
	ReconnectMax time.Duration
	PipeQueue    int // requests
	OwedPerNode  int // requests

	ClockTolerance time.Duration

	// locks

	MaxTTL         time.Duration
	OverTTL        OverTTL
	PadTTL         bool
	RoundLimit     time.Duration
	RoundsInFlight int
	SplitRetries   int
	SplitDelay     time.Duration
	MaxKey         int // bytes
	MaxToken       int // bytes
	Scripts        int
	ScriptBytes    int

	// clients

	Listen         string // host:port; port 0 lets the system choose
	MaxClients     int
	IdleTimeout    time.Duration // 0: never
	CommandTimeout time.Duration
	WriteTimeout   time.Duration
	MaxArgs        int
	MaxBulk        int // bytes
	MaxInline      int // bytes
	MaxCommand     int // bytes
	MaxPipeline    int // commands

	// process

	DrainTimeout time.Duration
	LogLevel     slog.Level
	LogFormat    string // "text" or "json"
}

// OverTTL says what becomes of a take that asks for more than max-ttl, or for no expiry at all.
type OverTTL int

const (
	Clamp  OverTTL = iota // it is given max-ttl, which is counted and logged
	Refuse                // it is answered with an error
)

func (o OverTTL) String() string {
	if o == Refuse {
		return "refuse"
	}
	return "clamp"
}
