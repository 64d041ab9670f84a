//go:build unwatched

package backend

const watched = false
