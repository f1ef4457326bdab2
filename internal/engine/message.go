package engine

import (
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// message is something that the loop takes in.
type message interface{ message() }

type (
	observed struct{ run.Observation }
	synced   struct{}

	// fenceRequest is answered when the fence is durable; with 0 if there is none to be had.
	fenceRequest struct {
		run.Ref
		reply chan<- int64
	}

	// requests is answered when what it brings is durable.
	requests struct {
		store.Requests
		taken chan<- struct{}
	}

	// archived says that the log of an ended attempt is where it stays.
	archived struct{ run.Ref }

	// expired says that an attempt's keep time is over.
	expired struct{ run.Ref }

	// finished says that what a run had beside its attempts is gone.
	finished struct{ run string }

	// forgotten says that an object without a record was left alone for long enough.
	forgotten struct{ run.Observation }

	// settle is answered when nothing is left to do for a run.
	settle struct {
		run   string
		reply chan<- struct{}
	}
)

func (observed) message()     {}
func (synced) message()       {}
func (fenceRequest) message() {}
func (requests) message()     {}
func (archived) message()     {}
func (expired) message()      {}
func (finished) message()     {}
func (forgotten) message()    {}
func (settle) message()       {}
