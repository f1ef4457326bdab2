// Package shimspec is what the process runtime and the shim say to each other.
//
// The runtime starts the shim in new mount, PID and UTS namespaces with three files: SpecFD to
// read a Spec from, in JSON up to the end of the file; ReportFD to write a failure to; and the
// container's stdout and stderr. The shim closes ReportFD without a word when the command has
// been executed (the descriptor is close-on-exec), so the end of that file means "running".
//
// The package imports nothing but the standard library: the shim must stay small, because one
// is executed for each container and each probe.
package shimspec

const (
	// SpecFD is the descriptor that the shim reads its Spec from.
	SpecFD = 3
	// ReportFD is the descriptor that the shim reports a failure on.
	ReportFD = 4
)

// The shim's verbs, its only argument.
const (
	// VerbRun builds a container's file system around the process and executes the command.
	VerbRun = "run"
	// VerbExec runs a command in the namespaces of a running container.
	VerbExec = "exec"
)

// Spec is one container, or one command to run in a container.
type Spec struct {
	// Scratch is an empty folder of the machine. With VerbRun the shim mounts a tmpfs there,
	// visible in its own namespace only, which holds all that the container writes to its root.
	Scratch string `json:"scratch,omitempty"`
	// Hostname is the name in the UTS namespace.
	Hostname string `json:"hostname,omitempty"`
	// Mounts are bind-mounted in order, parents before children.
	Mounts []Mount `json:"mounts,omitempty"`
	// ReadOnlyRoot makes everything read-only that is not one of Mounts.
	ReadOnlyRoot bool `json:"read_only_root,omitempty"`

	// Target is the process whose namespaces VerbExec enters, as this machine numbers it.
	Target int `json:"target,omitempty"`

	Argv []string `json:"argv"`
	Env  []string `json:"env"`
	// Dir is the working directory in the container. It is created when it is missing.
	Dir string `json:"dir"`

	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"`
	// Capabilities is the bounding set, by number; all others are dropped.
	Capabilities []int `json:"capabilities,omitempty"`
	NoNewPrivs   bool  `json:"no_new_privs,omitempty"`
}

// Mount is a file or folder of the machine that appears in the container.
type Mount struct {
	// Source is an absolute path on the machine.
	Source string `json:"source"`
	// SubPath is below Source and exists; symbolic links may not lead out of Source.
	SubPath string `json:"sub_path,omitempty"`
	// Target is an absolute path in the container; it is created when it is missing.
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only,omitempty"`
}
