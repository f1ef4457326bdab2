// Package pipeline is the authored file: what a run does, as a flat graph of steps.
//
// Parse reads the text and reports everything that can be told from it alone: keys, types, names, the
// graph, the matrix, and each expression with its type. Expand then makes the steps of one run of it,
// for given parameters: a step for each combination of a matrix, with the defaults merged in and with
// every expression evaluated whose value is known before the run starts. What is only known when a
// step starts (outputs of other steps, the run's id) stays as it was written, and is marked so.
//
// It promises:
//   - A key takes effect, or is an error with its position and what to write instead.
//   - An expression is evaluated once. What it yields is a value, whatever it looks like.
//   - Bounds hold before work is done. No file takes long.
//
// The package knows nothing of operators and clusters: whether a profile exists, or a pool, and who
// may have what, is for packages profile and govern to say.
package pipeline
