// Package profile reads the operator file: the baseline, the placement profiles, and what each environment
// permits.
//
// It promises:
//   - A File that Load gives is valid as a whole. Whatever is wrong with the text is found by then, all at
//     once and with positions, and there is no File.
//   - No key is accepted and lost: each one changes the File, and keys that do nothing are errors.
//   - What an operator wrote and can't have meant is said: a lock or a permit that nothing can ever match, a
//     permit for what is free to all, a profile that breaks a lock of the baseline or that, with the
//     baseline, fits no node at all.
//   - Names and patterns are matched whole, and exactly: see Glob. What is not named is not permitted.
//   - A File is never written to. Expressions in labels and annotations are checked when the file is read,
//     and evaluated by Layers, so that one File serves all runs.
//
// Document is the file as it is written; its tags are what decoding and the JSON Schema go by.
package profile
