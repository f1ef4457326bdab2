package executortest

import (
	"github.com/berthdev/berth/internal/run"
)

// Behaviour is what becomes of an attempt. The zero one starts and succeeds at once. What is to happen when a
// test says so has a channel, which the test closes; nil: at once.
type Behaviour struct {
	Refused *run.Outcome // it never gets an object
	Issues  int          // creates that come to nothing; each other one takes a new fence

	Exist <-chan struct{} // its object is made
	Start <-chan struct{} // its container starts
	End   <-chan struct{} // its container ends
	Gone  <-chan struct{} // after a Stop: no process of it is left

	Waits   bool         // its container never starts
	Waiting *run.Waiting // why it has not started
	Clock   run.Clock    // that runs meanwhile

	Runs    bool     // until it is stopped
	Ends    run.End  // Class "": success; NeverStarted: its container never starts
	Stopped *run.End // how it ends when it is stopped while it runs; nil: by SIGTERM

	Log string
}

// Node is where everything runs.
const Node = "node"
