package backend

import (
	"errors"
	"time"

	"redlockd/quorum"
)

// What is said to a node for its readmission, and what a page of a scan means. Each is what EVAL is given.

// evalOf is one of them as it is on the wire.
func evalOf(args []any) []byte { return commandOf(spell("EVAL", args)...) }

func beginArgs(runID, nonce, teacher, how string) []any {
	return []any{begin, 2, quorum.MarkKey, quorum.TeacherKey, runID + ":", nonce, teacher, teacherLease.Milliseconds(), how}
}

func tendArgs(teacher, waits string) []any {
	return []any{tend, 2, quorum.MarkKey, quorum.TeacherKey, teacher, teacherLease.Milliseconds(), waits}
}

// glanceArgs reads mark and time, and is nobody's teacher.
func glanceArgs() []any {
	return []any{tend, 2, quorum.MarkKey, quorum.TeacherKey, "", 0, ""}
}

func leaveArgs(teacher string) []any {
	return []any{leave, 2, quorum.MarkKey, quorum.TeacherKey, teacher}
}

func unvouchArgs(vouch string) []any {
	return []any{unvouch, 1, quorum.MarkKey, vouch, quorum.SpoiltMark}
}

func renewArgs(old, renewed string) []any { return []any{renew, 1, quorum.MarkKey, old, renewed} }

func pageArgs(cursor string) []any {
	return []any{page, 0, cursor, pageKeys, quorum.Reserved, longestToken, quorum.Blocker, quorum.DBPrefix}
}

func vouchArgs(mark string, vouched quorum.Mark, low, high time.Duration) []any {
	script := vouch
	switch quorum.Planted() {
	case quorum.BugVouchAnyMark:
		script = vouchAnyMark
	case quorum.BugVouchAnyClock:
		low, high = 0, 1<<62
	}
	return []any{script, 2, quorum.MarkKey, quorum.TeacherKey, mark, vouched.String(), low.Microseconds(), high.Microseconds() + 1}
}

// lock is one that another node holds.
type lock struct {
	key, token []byte
	left       int64 // milliseconds
}

// mergeArgs gives each lock two milliseconds more for what rounding has cut off (P8).
func mergeArgs(mark string, locks []lock) []any {
	script := merge
	if planted := plantedMerge[quorum.Planted()]; planted != "" {
		script = planted
	}
	args := []any{script, 1 + len(locks), quorum.MarkKey}
	for _, l := range locks {
		args = append(args, l.key)
	}
	args = append(args, mark, quorum.Blocker)
	for _, l := range locks {
		args = append(args, l.token, l.left+2)
	}
	return args
}

// readPage is the reply to page.
func readPage(v []any) (next string, locks []lock, err error) {
	if len(v) < 3 {
		return "", nil, errors.New("unexpected reply")
	}
	next = text(v[0])
	for rest := v[3:]; len(rest) >= 3; rest = rest[3:] {
		key, okKey := rest[0].([]byte)
		token, okToken := rest[1].([]byte)
		left, okLeft := rest[2].(int64)
		if !okKey || !okToken || !okLeft {
			return "", nil, errors.New("unexpected reply")
		}
		locks = append(locks, lock{key, token, left})
	}
	if next == "" || len(v)%3 != 0 {
		return "", nil, errors.New("unexpected reply")
	}
	return next, locks, nil
}
