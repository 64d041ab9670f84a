package commands

import "fmt"

// errNoFunction is all that Redis says of a call of a function that has not been loaded, whatever its arguments are.
const errNoFunction Error = "ERR Function not found"

// parseEval is for EVAL, EVALSHA and their read-only forms.
func parseEval(c *Command, scripts *Scripts) error {
	bySHA := c.Name == "evalsha" || c.Name == "evalsha_ro"
	if bySHA && len(c.Args[1]) != shaLength { // looked at before all else, as Redis does
		return ErrNoScript
	}
	n, err := parseInt(c.Args[2])
	switch {
	case err != nil:
		return err
	case n < 0:
		return errNegative
	case n > int64(len(c.Args)-3):
		return errNoKeys
	}
	keys, args := c.Args[3:3+n], c.Args[3+n:]
	c.Named = keys
	var known *knownScript
	if bySHA {
		if known = scripts.find(c.Args[1]); known == nil {
			return ErrNoScript
		}
	} else if known, err = scripts.load(c.Args[1], c.slow); err != nil {
		return err
	}
	readOnly := c.Name == "eval_ro" || c.Name == "evalsha_ro"
	if readOnly && known.shebang && !known.noWrites {
		return errWriteFlag
	}
	line, err := known.call(c, keys, args)
	if err == nil && (c.Verb != Inspect || c.Next != nil) && (readOnly || known.noWrites) {
		return Error(fmt.Sprintf("ERR Write commands are not allowed from read-only scripts. script: %s, on @user_script:%d.", known.sha, line))
	}
	return err
}

func (c *Command) slow() {
	if c.Slow != nil {
		c.Slow()
	}
}

func parseFunctionCall(*Command, *Scripts) error { return errNoFunction }
