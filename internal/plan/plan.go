package plan

import (
	"time"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/govern"
)

// Version is that of the plan's format.
const Version = 1

// Plan is what a run will do.
type Plan struct {
	Version          int               `json:"version"`
	Pipeline         string            `json:"pipeline"`
	Description      string            `json:"description,omitempty"`
	Environment      string            `json:"environment,omitempty"`
	Params           map[string]string `json:"params,omitempty"`
	OperatorRevision string            `json:"operator_revision,omitempty"` // SHA-256 of the operator file; empty without one
	Timeout          Duration          `json:"timeout,omitempty"`           // of the whole run; 0: none
	MaxActiveSteps   int               `json:"max_active_steps,omitempty"`  // 0: no bound
	Workspace        *Workspace        `json:"workspace,omitempty"`
	Steps            []Step            `json:"steps"` // in the order of the file, and of each matrix
}

// Duration is a length of time; in JSON, as Go writes it.
type Duration time.Duration

// MarshalText writes 1h30m0s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Workspace is the volume that the steps of a run share.
type Workspace struct {
	Size         string `json:"size"` // a quantity
	StorageClass string `json:"storage_class,omitempty"`
	AccessMode   string `json:"access_mode"` // ReadWriteOnce or ReadWriteMany

	// Apart has for each group of steps the groups that no node can take as well: the volume is on one node
	// at a time, so that their steps run one after another. Both are in order, and it is symmetric.
	Apart [][]int `json:"apart,omitempty"`
}

// Step is a step of a run.
type Step struct {
	ID     string `json:"id"`   // in names of objects, a DNS label: test-amd64
	Name   string `json:"name"` // to people: test (amd64)
	Step   string `json:"step"` // in the pipeline: test
	Matrix Object `json:"matrix,omitempty"`

	Needs        []string `json:"needs,omitempty"` // IDs
	If           string   `json:"if,omitempty"`    // condition; empty: success()
	Pool         string   `json:"pool,omitempty"`
	Priority     int      `json:"priority,omitempty"`
	AllowFailure bool     `json:"allow_failure,omitempty"`
	Retry        *Retry   `json:"retry,omitempty"`
	Outputs      []string `json:"outputs,omitempty"`

	Timeout         Duration `json:"timeout"`
	ScheduleTimeout Duration `json:"schedule_timeout"`
	ImageTimeout    Duration `json:"image_timeout"`

	// WorkspaceGroup is the step's index in Workspace.Apart; nil if nothing keeps it from the volume.
	WorkspaceGroup *int `json:"workspace_group,omitempty"`

	Work Work `json:"work"`

	// Permits is what is judged again when an attempt starts, by the operator file then in force. It is zero
	// if the step asks for nothing that needs a permit.
	Permits govern.Request `json:"permits,omitzero"`

	// As the step says it, with expressions evaluated: for executors without pods, and for people. Pod has
	// what they come to.
	PlacementProfiles []string          `json:"placement_profiles,omitempty"`
	Resources         *Resources        `json:"resources,omitempty"`
	K8sOverlay        Object            `json:"k8s_overlay,omitempty"`
	ServiceAccount    string            `json:"service_account,omitempty"`
	Secrets           map[string]Secret `json:"secrets,omitempty"` // by variable

	Asks []Ask `json:"asks,omitempty"` // of the pod; not part of the Hash, as origins are not

	Pod Pod `json:"pod"`
}

// Retry says how often, and after which outcomes, the step is run again.
type Retry struct {
	Max     int                `json:"max"`
	On      []pipeline.RetryOn `json:"on"`
	Backoff Duration           `json:"backoff"` // before the first, doubled for each one after it
}

// Work is what the step runs, for executors that make no pod of it. Texts that are late have expressions
// in them, to be evaluated when the step starts.
type Work struct {
	Image      string          `json:"image,omitempty"`
	Command    []Text          `json:"command"` // a script is its last item
	Args       []Text          `json:"args,omitempty"`
	WorkingDir string          `json:"working_dir,omitempty"` // relative to the workspace, if it is relative
	Env        map[string]Text `json:"env,omitempty"`
	Services   []Service       `json:"services,omitempty"`
	Workspace  bool            `json:"workspace,omitempty"` // whether it has the run's volume
}

// Text is a value, or, if it is late, how it is found out.
type Text struct {
	Text string `json:"text"`
	Late bool   `json:"late,omitempty"`
}

// Service is a container that runs beside the step.
type Service struct {
	Name      string          `json:"name"`
	Image     string          `json:"image"`
	Command   []Text          `json:"command,omitempty"`
	Args      []Text          `json:"args,omitempty"`
	Env       map[string]Text `json:"env,omitempty"`
	Ready     *Ready          `json:"ready,omitempty"`
	Resources *Resources      `json:"resources,omitempty"`
}

// Ready is how to tell that a service is ready: one of a port, a request and a command.
type Ready struct {
	TCP  int      `json:"tcp,omitempty"`
	HTTP *HTTP    `json:"http,omitempty"`
	Exec []string `json:"exec,omitempty"`
}

// HTTP is a GET on localhost.
type HTTP struct {
	Port int    `json:"port"`
	Path string `json:"path"`
}

// Secret is a key of a Secret.
type Secret = pipeline.SecretKey

// Resources are quantities by name of the resource.
type Resources struct {
	Requests map[string]string `json:"requests,omitempty"`
	Limits   map[string]string `json:"limits,omitempty"`
}

// Pod is what the layers come to.
type Pod struct {
	Fragment Object             `json:"fragment"`
	Late     []Late             `json:"late,omitempty"`
	Origins  []placement.Origin `json:"origins,omitempty"` // not part of the Hash: they explain and decide nothing
}

// Late is a string of the pod that is only known when an attempt starts.
type Late struct {
	Path placement.Path `json:"path"`
	Item int            `json:"item"`          // of the list at the path; -1 if a string is there
	Text string         `json:"text"`          // with expressions in it
	Own  bool           `json:"own,omitempty"` // Berth's: its expressions are those of own.go
}

// Object is an untyped value. Its integers are int64, as the Kubernetes libraries want them, also after it
// was stored.
type Object map[string]any
