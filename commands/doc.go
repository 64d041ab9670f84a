// Package commands knows what bytes mean: it turns the arguments of a client's
// command into what is wanted of the locks, in Redis's grammar and with Redis's words for
// whatever is wrong. It is pure.
//
//	table.go   the commands there are: arity, flags, how they are parsed
//	parse.go   arguments -> Command
//	set.go     the options of SET
//	errors.go  Redis's error texts
//	script.go  scripts, known by what they do
package commands
