package profile

import (
	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
)

// File is an operator file, read and checked.
type File struct {
	Name     string // as its user named it; empty for the file that nobody gave
	Revision string // SHA-256 of its text, in hexadecimal; empty for the file that nobody gave

	Baseline     Baseline
	Profiles     []Profile // in their order; names are unique
	Conflicts    placement.Conflicts
	Limits       *fragment.Resources // the most that one step's pod may ask for; nil: no bound
	Environments []Environment       // in their order; names are unique
	Pools        []Pool              // in their order; names are unique
	PodSecurity  PodSecurity
	ActiveLimits ActiveLimits
	Kubernetes   Kubernetes
	Logs         Logs

	templates map[string]*expression.Template // of labels and annotations, by their text
}

// Baseline is the fragment stamped on every pod that Berth creates.
type Baseline struct {
	K8s       fragment.Fragment
	Resources *fragment.Resources // for steps that state none; nil if the file has none
	Locked    []placement.Path    // none of them is below another
}

// Profile is a named fragment.
type Profile struct {
	Name        string
	Description string
	Default     bool // used when a step lists none; true for one profile at most, and that is not restricted
	Restricted  bool // needs an environment that permits it
	MayBeEmpty  bool // scaled to zero: no warning that it fits no node
	K8s         fragment.Fragment
}

// Environment is a deployment target: it permits things.
type Environment struct {
	Name    string
	Allow   *Allow // nil: nobody but operators may target it, on a server
	Permits Permits
}

// Allow says who may target an environment, on a server. The lists that are given must all match; at least
// one is, and one that is given is not empty.
type Allow struct {
	Identities []Glob // names of tokens, or verified OIDC subjects
	Pipelines  []Glob // stored pipelines, or the scope of a token
}

// Permits is what an environment lets a run have.
type Permits struct {
	Overlay         OverlayPermit
	Profiles        []string // restricted ones, by name
	Secrets         []string
	ServiceAccounts []string
	Claims          []string // persistent volume claims and resource claims
}

// OverlayPermit says which fields k8s_overlay may touch.
type OverlayPermit struct {
	All   bool             // every field
	Paths []placement.Path // if not all: what is at or below these
}

// Pool is a named number of slots that steps of all runs share; nothing to do with nodes.
type Pool struct {
	Name  string
	Slots int // at least 1
}

// PodSecurity is the pod security standard that the final pod of every step is held to.
type PodSecurity string

const (
	Restricted       PodSecurity = "restricted"
	BaselineStandard PodSecurity = "baseline"
	Privileged       PodSecurity = "privileged"
)

// Values gives the standards.
func (PodSecurity) Values() []string {
	return []string{string(Restricted), string(BaselineStandard), string(Privileged)}
}
