// Package source reads a YAML file that people write: into values that know where they stand.
//
// It promises:
//   - YAML 1.2 and its core schema decide what a scalar is: yes and on are strings, 2026-01-01 is one.
//     Where readers of YAML disagree about a number (010, 0644) it is an error, not a guess.
//   - Nothing is dropped: a key that occurs twice, a second document, a merge key, a tag that is not
//     of the core schema are errors.
//   - Decoding into Go types is strict: a key that the type doesn't have is an error that names the
//     nearest one, and so is a value of another kind. There are no coercions.
//   - Each finding has line and column, and all of them are reported at once, as far as the text
//     can be read at all.
//   - Bounds hold before work is done: the size of the text, how deep it nests, how many values it
//     has once aliases are written out. No text takes long, and none makes it panic.
//
// The tags `yaml` and `doc` of a type's fields say all that decoding and the JSON Schema need to
// know, so that the two can't disagree: see Decode and Schema.
package source
