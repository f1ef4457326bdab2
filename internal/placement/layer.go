package placement

import "fmt"

// Kind says whose layer it is and what it may do. Kinds are in the order in which layers are merged.
type Kind int

const (
	Builtin   Kind = iota // Berth's defaults
	Baseline              // the operator's, for every pod
	Profile               // the operator's, by name; one layer for each that a step lists
	Step                  // the author's: what the step itself says
	Resources             // the author's: exact numbers
	Overlay               // the author's, by permit: k8s_overlay
	Berth                 // what Berth relies on and no one overrides
)

var kindNames = [...]string{"builtin", "baseline", "profile", "step", "resources", "k8s_overlay", "berth"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kindNames[k]
}

// Layer is one layer's fragment.
type Layer struct {
	Kind     Kind
	Name     string // of a profile, else empty
	Fragment map[string]any
	Locate   Locator // nil if nobody knows
}

// Locator says where in its file a layer says something of a path, or else of what the path is in.
// Line and column are from 1, or 0 if not even that is known.
type Locator func(Path) (file string, line, column int)

// String is how origins and findings name the layer: "baseline", "profile:arm64".
func (l Layer) String() string {
	if l.Kind == Profile {
		return "profile:" + l.Name
	}
	return l.Kind.String()
}

// mayRemove says whether null and $patch mean something in the layer.
func (l Layer) mayRemove() bool { return l.Kind == Overlay }

// Conflicts says what follows when two profiles set the same field to different values.
type Conflicts string

const (
	Warn   Conflicts = "warn"   // the later one wins, and it is reported
	Reject Conflicts = "reject" // it is an error
)

// Governs is what an operator says about composing, beside the layers.
type Governs struct {
	Conflicts Conflicts // empty is Warn
	Locked    []Path    // layers after the baseline, Berth's own apart, may not change what is there
}
