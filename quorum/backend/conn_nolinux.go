//go:build !linux

package backend

func (c *conn) unread() bool { return false }
