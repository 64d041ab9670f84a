package commands

// numkeys says where the number of keys stands, of the commands that have it; the keys follow it.
var numkeys = map[string]struct{ at, step int }{
	"msetex": {1, 2},
	"eval":   {2, 1}, "evalsha": {2, 1}, "eval_ro": {2, 1}, "evalsha_ro": {2, 1}, "fcall": {2, 1}, "fcall_ro": {2, 1},
}

const (
	errInvalidCommand Error = "ERR Invalid command specified"
	errInvalidCount   Error = "ERR Invalid number of arguments specified for command"
	errNoKeyArgs      Error = "ERR The command has no key arguments"
)

// KeysOf is COMMAND GETKEYS: the keys among the arguments of a command.
func KeysOf(args [][]byte) (keys [][]byte, err error) {
	spec, ok := SpecOf(NameOf(args[0]))
	movable, moves := numkeys[spec.Name]
	switch {
	case !ok:
		return nil, errInvalidCommand
	case spec.First == 0 && !moves:
		return nil, errNoKeyArgs
	case !fits(spec.Arity, len(args)):
		return nil, errInvalidCount
	}
	first, step, end := spec.First, spec.Step, spec.Last+1
	if spec.Last < 0 {
		end = len(args) + spec.Last + 1
	}
	if moves {
		n, err := parseInt(args[movable.at])
		first, step = movable.at+1, movable.step
		if err != nil || n < 0 || n > int64((len(args)-first)/step) {
			return nil, nil // as Redis
		}
		end = first + int(n)*step
	}
	for i := first; i < end; i += step {
		keys = append(keys, args[i])
	}
	return keys, nil
}
