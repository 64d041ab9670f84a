// Package conf knows numbers: it turns flags, REDLOCKD_ variables and a TOML file into one checked Config.
//
// An option is written once, as a row of the table in option.go: its name, the field it fills, its limits, its default,
// the reason for the default and how to choose another. From that row come the flag, the variable, the key of the file,
// the text of --help and the check of its limits. Laws between two options stand in validate.go.
//
// The way of one value: where it was found (flags.go, environ.go, file.go) → given → the option's set → Config →
// validate. No step stops at the first mistake: whoever starts redlockd sees all of them at once, each with the place
// it was made.
//
// Two rules hold for every sentence that leaves this package. A password is never in it: what a node was written as is
// never repeated, only its position and, once parsed, its address. And a typo never passes silently: an unknown flag, key
// or variable is a mistake, and so is an empty value.
//
// The package imports nothing of ours, reads no clock and opens nothing but the file named by --config.
package conf
