package real

import (
	"strings"
	"testing"
)

// What Redis has since 8.4 and Valkey since 8.1, over nodes of 7.0 that know nothing of it.
func TestRealNewerWays(t *testing.T) {
	f := real(t, 3)
	ask := talk(t, f.proxy.Addr)
	for _, pair := range [][2]string{
		{"SET k t IFEQ t", "$-1"},
		{"SET k t IFNE t PX 60000", "+OK"},
		{"SET k u IFNE t PX 60000", "$-1"},
		{"SET k t PX 90000 IFEQ t", "+OK"},
		{"SET k u IFEQ x GET PX 60000", "$1 t"},
		{"SET k u IFEQ t GET PX 60000", "$1 t"},
		{"SET k t IFEQ u", "+OK"},
		{"EXPIRE k 100 XX", ":1"},
		{"DELEX k IFEQ u", ":0"},
		{"DELEX k IFNE t", ":0"},
		{"GET k", "$1 t"},
		{"DELEX k IFEQ t", ":1"},
		{"DELEX k IFEQ t", ":0"},
		{"DELIFEQ k t", ":0"},
		{"SET k t NX PX 60000", "+OK"},
		{"DELIFEQ k u", ":0"},
		{"DELIFEQ k t", ":1"},
		{"SET k t NX PX 60000", "+OK"},
		{"DELEX k IFNE u", ":1"},
		{"DELEX k IFNE u", ":0"},
		{"MSETEX 2 k t l u NX PX 60000", ":1"},
		{"MSETEX 2 l t m u PX 60000 NX", ":0"},
		{"MGET k l m", "*3 $1 t $1 u $-1"},
		{"DELEX k", ":1"},
		{"DELEX l IFEQ u", ":1"},
		{"MSETEX 1 k t EX 60 NX", ":1"},
		{"DBSIZE", ":1"},
	} {
		if got := strings.TrimSpace(strings.ReplaceAll(ask(pair[0]), "\r\n", " ")); got != pair[1] {
			t.Errorf("%s: %s, want %s", pair[0], got, pair[1])
		}
	}
	f.wantHolders("k", "t", 3)
}
