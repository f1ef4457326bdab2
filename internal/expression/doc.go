// Package expression is CEL in strings: ${{ EXPR }} in a value of a pipeline or operator file, and the
// bare expression of an `if`.
//
// It promises:
//   - All that can be known of an expression is checked before anything runs: its syntax, its types,
//     that every parameter, axis, run fact, step and output that it reads exists, and that what it
//     reads is known where it stands. All problems of a text are reported at once.
//   - Parameters, axes, run facts and steps are named, never computed: what a text reads can be told
//     without evaluating it (Uses), and so can whether that is known at admission (Late).
//   - An expression is evaluated once. What it yields is never looked at again: a value that holds
//     ${{ or $( comes out byte for byte.
//   - A text that is one expression keeps its type. In all other texts values are printed.
//   - The same text and values give the same result: no function has a clock, chance or network in
//     it. The functions are CEL's own and those of cel-go's strings library, as in Kubernetes.
//   - No input panics or takes long. Texts, nesting, the work of evaluating and the result are
//     bounded (bounds.go), and so is how much one Compiler compiles.
//
// What an expression sees are not CEL's objects but plain maps from name to value, one for each kind
// of thing that can be read. The names in the source are replaced when it is compiled (reader.go), so
// that one CEL environment serves all scopes, and a text is compiled once however many steps have it.
package expression
