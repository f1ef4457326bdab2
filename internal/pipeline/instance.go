package pipeline

import (
	"time"

	"github.com/berthdev/berth/internal/placement/fragment"
)

// Input is what a run is given beside the file.
type Input struct {
	Params      map[string]string
	Environment string // empty: the file's
	Partial     bool   // required parameters may be missing: what depends on them is left as it is
}

// Expansion is the steps of a run.
type Expansion struct {
	File        *File
	Params      map[string]string // all that the pipeline has
	Environment string            // empty if there is none
	Steps       []Instance        // in the order of the file, and of each matrix
}

// Value is a text of a step: what it is, or how it is found out when the step starts.
type Value struct {
	Text string // if late, with expressions in it
	Late bool
}

// Instance is a step of a run.
type Instance struct {
	Variant
	Step  string   // name in the file
	Needs []string // IDs of the instances that have to end first
	If    string   // condition, evaluated when what the step needs has ended; empty: success()

	Image      string
	Script     *Value   // run by Shell; nil if the step has a command
	Shell      []string // never empty
	Command    []Value
	Args       []Value
	WorkingDir string
	Env        map[string]Value
	Secrets    map[string]SecretKey // by variable
	Services   []ServiceInstance
	Outputs    []string

	PlacementProfiles []string
	Resources         *fragment.Resources // nil if none are written
	Overlay           fragment.Fragment   // k8s_overlay; with a nil Node if there is none
	ServiceAccount    string
	Workspace         bool // whether it has the run's volume

	Pool            string
	Priority        int
	Retry           *Retry // with nothing left open; nil: no retries
	Timeout         time.Duration
	ScheduleTimeout time.Duration
	ImageTimeout    time.Duration
	AllowFailure    bool

	from *step
}

// SecretKey is a key of a Secret.
type SecretKey struct {
	Secret string `json:"secret"`
	Key    string `json:"key"`
}

// ServiceInstance is a service of a step of a run.
type ServiceInstance struct {
	Name      string
	Image     string
	Command   []Value
	Args      []Value
	Env       map[string]Value
	Ready     *Ready
	Resources *fragment.Resources
}

// At is where a key of the step was written, and the step itself if it was not.
func (i *Instance) At(key string) Place { return i.from.at(key) }

// EnvAt is where a variable was written, in env or in secrets; nowhere if the step has none of that name.
func (i *Instance) EnvAt(name string) Place {
	if p, ok := i.from.env[name]; ok {
		return p
	}
	return i.from.from["secrets"].Below(name)
}
