package run

import "time"

// Command is something to be done. It is stored with the state that wants it, carried out after that, and
// repeated until it is done; carrying it out twice does no harm. Kind, Step and Attempt identify it.
type Command struct {
	Kind    CommandKind `json:"kind"`
	Step    string      `json:"step,omitempty"`    // ID
	Attempt int         `json:"attempt,omitempty"` // number
	ID      string      `json:"id,omitempty"`      // of the object, where one is known
	Force   bool        `json:"force,omitempty"`   // without asking its node: the node is lost
	Class   Class       `json:"class,omitempty"`   // of CommandCollect: what keep times go by
	At      time.Time   `json:"at,omitzero"`       // of CommandCollect: when the attempt ended
	Keep    bool        `json:"keep,omitempty"`    // of CommandCollect: its object may be kept for its keep time
}

// CommandKind says what is to be done, and when it is.
type CommandKind string

const (
	// CommandStart creates the attempt's object. Done when an Observed has its ID, or says that it is Gone.
	CommandStart CommandKind = "start"
	// CommandStop ends the attempt, with the step's grace. Done when an Observed says that it is Gone.
	CommandStop CommandKind = "stop"
	// CommandCollect archives the ended attempt's log, and then removes its object: at once, or if Keep, when
	// its keep time is over. Done when an Observed says that it is Gone.
	CommandCollect CommandKind = "collect"
	// CommandFinish removes what the run as a whole had: its workspace. Done when that was accepted.
	CommandFinish CommandKind = "finish"
)
