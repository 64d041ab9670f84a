package model

import "testing"

func everything(n, proxies, attempts int) Scenario {
	return Scenario{Nodes: n, Proxies: proxies, Attempts: attempts, Teachers: 2, TTL: 6, Limit: 2, Horizon: 24,
		Extends: 1, Jump: 3, Faults: Faults{Empty: 1, Old: 1, Flush: 1, Forward: 1, Back: 1, Cut: 1, Crash: 1, Lost: 1},
		Split: EachApart, Admit: true, LongWait: true, TopUps: true, Releases: true, Undos: true}
}

func TestBase(t *testing.T) {
	s := everything(3, 2, 3)
	r := Walk(&s, 1, 3_000_000)
	t.Logf("%+v walks %d steps %d grants %d vouched %d", s, r.Walks, r.Steps, r.Grants, r.Vouched)
	if r.Trace != nil {
		t.Error(Tell(&s, Shorten(&s, r.Trace)))
	}
}
