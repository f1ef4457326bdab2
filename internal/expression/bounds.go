package expression

// Bounds of what is written and of what it yields. Beyond each of them is a problem or an error that names it.
const (
	MostLength   = 4 << 10   // bytes of one expression
	MostNesting  = 100       // levels of one expression: parentheses, calls, lists, operators in a row
	MostLoops    = 8         // macros such as map and exists, in or after each other
	MostDistinct = 4096      // different expressions that one Compiler compiles ...
	MostBytes    = 96 << 10  // ... and their bytes together; a macro counts as a hundred, which is what it takes to check
	MostCost     = 100_000   // CEL's units of work in evaluating all of a text: about a byte read or a call each
	MostResult   = 1 << 20   // bytes of what a text yields
	MostOfAll    = 2_000_000 // units of work of all evaluations with one Allowance; sixteen bytes yielded are one
)

// Bounds that no one meets who is within the others, or nearly so.
const (
	bytesPerLoop = 100
	mostNodes    = 10_000 // of an expression with its macros expanded; the checker's time goes with it
	mostParts    = 10_000 // of a value: items of lists and maps in it
	bytesPerUnit = 10     // of a string, where CEL measures values
)
