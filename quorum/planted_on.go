//go:build planted

package quorum

// planted: see Bug. Never build a redlockd that is to keep locks with this tag.
var planted Bug

// Plant that bug, and no other, before anything runs.
func Plant(b Bug) { planted = b }
