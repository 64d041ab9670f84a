//go:build !planted

package quorum

// planted: see Bug. A constant, so that nothing of what is planted is in this build.
const planted = NoBug
