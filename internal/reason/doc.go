// Package reason is the registry of every "why": why something waits, and why it ended as it did. A reason
// has a code for machines and a title for people; the sentence that goes with it is made where the facts
// are.
//
// It promises that a code never changes its meaning, and that each one is documented: the reference is
// made from this registry.
package reason
