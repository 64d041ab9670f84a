// Package commands knows what bytes mean: it turns the arguments of a client's
// command into what is wanted of the locks, in Redis's grammar and with Redis's words for
// whatever is wrong. It is pure.
//
//	table.go, subcommands.go  the commands there are: arity, flags, how they are parsed
//	parse.go   arguments -> Command
//	set.go, expire.go, many.go, objects.go  the same, by command; options.go their options
//	keys.go    where the keys of a command stand
//	transaction.go  what stands between MULTI and EXEC -> one Command
//	errors.go  Redis's error texts
//	eval.go    EVAL and its kin
//	script*.go scripts, known by what they do: scriptcache.go those we know, scriptshape.go in which ways they have been called;
//	           scriptrecognise.go how one is recognised, scripttrial.go and scriptstates.go in which states, scriptlaws.go as what;
//	           scriptlate.go extends that want time to be left; scripttell.go what it publishes;
//	           scriptguards.go, scriptnumbers.go, scripttables.go where gopher-lua is no Lua; scriptmade.go texts that it only answers;
//	           scriptsandbox.go and scriptmodel.go what it is run in and against; scriptcompute.go replies that it calculates itself
package commands
