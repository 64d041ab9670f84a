package load

// Tally is a Worker whose operations may be granted or refused, both of which are right.
type Tally interface {
	Granted() uint64 // of all operations so far
}

// contender polls one key that all of its row poll. One operation is one answered take; with one that was granted comes its
// release, which finds the key only if nobody else was let in meanwhile.
type contender struct {
	*wireClient
	granted uint64
}

var refusal = []byte("$-1\r\n")

// Step implements Worker.
func (c *contender) Step() (good, bad int, err error) {
	take, release := &c.batches[0], &c.batches[1]
	if err := c.send(take); err != nil {
		return 0, 0, err
	}
	refused, err := c.answer(refusal)
	if err != nil {
		return 0, 0, err
	}
	if refused {
		return 1, 0, nil
	}
	if bad, err = c.answers(take); bad > 0 || err != nil {
		return 0, bad, err
	}
	c.granted++
	if err := c.send(release); err != nil {
		return 0, 0, err
	}
	bad, err = c.answers(release)
	c.next++
	return 1 - bad, bad, err
}

// Granted implements Tally.
func (c *contender) Granted() uint64 { return c.granted }
