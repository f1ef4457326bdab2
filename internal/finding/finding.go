// Package finding is what Berth says about something that was written: a pipeline file, an
// operator file, a layer of placement rules.
//
// It promises that a finding is a value which reads the same in a terminal, in JSON and in a stored
// run; that its code is one of those in codes.go, never changes its meaning and may be relied upon
// by programs; that a list of findings comes out in one order, whatever order they were found in,
// and each of them once; and that an error among them refuses what was written, while warnings and
// notes never do.
//
// Whoever finds something adds it and goes on: all findings are reported at once.
package finding

import (
	"cmp"
	"fmt"
)

// Severity says what follows from a finding.
type Severity string

const (
	Error   Severity = "error"   // what was written is refused
	Warning Severity = "warning" // it takes effect, and probably not as meant
	Note    Severity = "note"    // it takes effect, and is worth knowing
)

// rank orders severities, the gravest first.
func (s Severity) rank() int {
	switch s {
	case Error:
		return 0
	case Warning:
		return 1
	default:
		return 2
	}
}

// Finding is one thing that is wrong or noteworthy. In JSON all of its keys are always there, so that
// a program that reads it need not ask which are: "" and 0 say that something is not known.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"`    // as its user named it
	Line     int      `json:"line"`    // from 1
	Column   int      `json:"column"`  // from 1, in characters, not bytes
	Path     string   `json:"path"`    // of the field, in the grammar that its part of Berth uses
	Message  string   `json:"message"` // what is wrong, as a sentence without a full stop
	Fix      string   `json:"fix"`     // what to write instead, as an imperative
}

// Position is where the finding points to, as far as it is known: "FILE:LINE:COLUMN", or the path.
func (f Finding) Position() string {
	switch {
	case f.File != "" && f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	case f.File != "" && f.Path != "":
		return f.File + ": " + f.Path
	case f.File != "":
		return f.File
	default:
		return f.Path
	}
}

// String is the finding in one line, without its fix.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s (%s)", f.Severity, f.Message, f.Code)
	if at := f.Position(); at != "" {
		return at + ": " + text
	}
	return text
}

// compare orders findings by position, and where that is the same by everything else, so that two
// findings are equal to it only if they are the same. Findings without a position come last.
func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		last(a.Line, b.Line),
		last(a.Column, b.Column),
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Severity.rank(), b.Severity.rank()),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Fix, b.Fix),
	)
}

// last compares two numbers that count from 1; 0, which is unknown, comes after them.
func last(a, b int) int {
	if (a == 0) != (b == 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}
