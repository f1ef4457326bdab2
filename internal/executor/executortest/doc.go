// Package executortest holds both sides of package executor's contract to it.
//
//   - Run is what every executor must do: the same steps, with the same ends, whatever carries them out.
//   - Recorder is a Reporter for tests: it keeps what is observed, lets a test wait for it, and says where
//     the order of observations breaks the protocol.
//   - Scripted is an executor for tests of those who call one. What becomes of an attempt is a Behaviour; its
//     objects outlive a Run, as pods outlive an engine; observations can be held back, mixed and repeated.
//     It fails the test where its caller breaks the protocol.
//
// Scripted passes Run like any other.
package executortest
