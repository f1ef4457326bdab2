// Package archtest holds the sources to lattice.txt, the import lattice: who may import whom.
//
// It promises that a package of the product which lattice.txt does not place is an error, as is
// an import that it does not allow, bans, or lets in from a module of others without a line for
// it; that each error has a position and names the rule; and that all of them are reported at
// once. It also holds every package of every module in the repository to having a doc comment,
// and the table of packages in ARCHITECTURE.md to the lattice.
//
// Everything is decided from an fs.FS and the lattice's text, so that each rule is tested on
// trees in which it is broken. The sources are parsed, never listed by a child process: Go's test
// cache notices a changed file only if the test itself opened it. Build constraints are not
// looked at: a file counts on every platform.
package archtest
