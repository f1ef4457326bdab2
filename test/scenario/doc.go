// Package scenario runs the program as its users do: numbered scripts in testdata, each with its input and
// what has to come out side by side. A script is a txtar archive, in the language of
// github.com/rogpeppe/go-internal/testscript, with one more command:
//
//	exits CODE berth ARGS...   runs the program, which has to end with that exit code
package scenario
