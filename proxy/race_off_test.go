//go:build !race

package proxy

const underRace = false
