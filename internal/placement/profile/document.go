package profile

import (
	"reflect"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// Document is the operator file as it is written.
type Document struct {
	Version      int                 `yaml:"version,required" doc:"version of this file's format: 1"`
	Baseline     baselineSection     `yaml:"baseline" doc:"what every pod that Berth creates gets"`
	Profiles     []profileEntry      `yaml:"placement_profiles" doc:"named fragments that steps list by name; the later in a step's list win"`
	Conflicts    conflictPolicy      `yaml:"profile_conflicts" doc:"what follows when two profiles of one step set the same field to different values: warn (the default: the later one wins, and it is reported) or reject (the run is refused)"`
	Limits       *fragment.Resources `yaml:"resource_limits" doc:"the most that one step's pod may ask for, all of its containers together; without it there is no bound"`
	Environments []environmentEntry  `yaml:"environments" doc:"deployment targets; what is restricted needs one that permits it"`
	Pools        []poolEntry         `yaml:"pools" doc:"named numbers of slots that steps of all runs share; nothing to do with nodes"`
	Active       activeSection       `yaml:"limits" doc:"how much may be active at once, of all runs together; what does not fit waits"`
	Executor     executorSection     `yaml:"executor" doc:"how steps are carried out"`
	Logs         logsSection         `yaml:"logs" doc:"where the logs of attempts go"`
}

// unwritten is the file of which nothing was written. What is read is written over it, so that a zero which
// was written is told from one that was not.
func unwritten() Document {
	var doc Document
	k := Empty().Kubernetes
	doc.Executor.Kubernetes.Keep = keepSection{source.Duration(k.Keep.Succeeded), source.Duration(k.Keep.Failed)}
	doc.Executor.Kubernetes.NodeLostTimeout = source.Duration(k.NodeLostTimeout)
	return doc
}

type baselineSection struct {
	K8s       *source.Node        `yaml:"k8s" doc:"pod-spec fragment: keys of a Kubernetes PodSpec, and labels and annotations; the step's own container is named step"`
	Resources *fragment.Resources `yaml:"resources" doc:"what the step container asks for where the step does not say"`
	Locked    []string            `yaml:"locked" doc:"paths that no profile and no author may change, such as nodeSelector.\"kubernetes.io/os\"; one that the baseline does not set, nobody may set"`
}

type profileEntry struct {
	Name        string       `yaml:"name,required" doc:"DNS label, by which steps list the profile"`
	Default     bool         `yaml:"default" doc:"use the profile for steps that list none; true for one profile at most"`
	Description string       `yaml:"description" doc:"what the profile is for, in a line, for authors"`
	Restricted  bool         `yaml:"restricted" doc:"only runs that target an environment which permits the profile may use it; anyone may use the others"`
	MayBeEmpty  bool         `yaml:"may_be_empty" doc:"the profile's nodes may be scaled to zero: do not warn that it fits none"`
	K8s         *source.Node `yaml:"k8s,required" doc:"pod-spec fragment, merged over the baseline"`
}

type conflictPolicy string

func (conflictPolicy) Values() []string {
	return []string{string(placement.Warn), string(placement.Reject)}
}

type environmentEntry struct {
	Name    string         `yaml:"name,required" doc:"DNS label, by which pipelines name the environment"`
	Allow   *allowSection  `yaml:"allow" doc:"who may target the environment on a server; all lists that are given must match; without it, nobody but operators"`
	Permits permitsSection `yaml:"permits" doc:"what a run that targets the environment may have, beyond what everyone may"`
}

type allowSection struct {
	Identities []Glob `yaml:"identities" doc:"names of tokens or verified OIDC subjects, exact or with * for any run of characters"`
	Pipelines  []Glob `yaml:"pipelines" doc:"names of stored pipelines or scopes of tokens, exact or with * for any run of characters"`
}

type permitsSection struct {
	Overlay         overlayPermit `yaml:"k8s_overlay" doc:"whether steps may have k8s_overlay: true, false, or a list of the field paths that it may touch"`
	Profiles        []string      `yaml:"placement_profiles" doc:"restricted placement profiles that steps may list"`
	Secrets         []string      `yaml:"secrets" doc:"exact names of Secrets that pods may refer to"`
	ServiceAccounts []string      `yaml:"service_accounts" doc:"exact names of service accounts that pods may run as"`
	Claims          []string      `yaml:"claims" doc:"exact names of PersistentVolumeClaims and ResourceClaims that k8s_overlay may refer to"`
}

type poolEntry struct {
	Name  string `yaml:"name,required" doc:"DNS label, by which steps name the pool"`
	Slots int    `yaml:"slots,required" doc:"how many steps may hold the pool at once, at least 1"`
}

// overlayPermit is written as true, as false, or as a list of paths.
type overlayPermit struct {
	all   bool
	paths []string
}

// FromNode reads a permit. What the paths are is checked with all others.
func (p *overlayPermit) FromNode(d *source.Decoding, n *source.Node, path string) {
	switch n.Kind {
	case source.Bool:
		p.all = n.Value.(bool)
	case source.List:
		d.Value(n, path, reflect.ValueOf(&p.paths).Elem())
	default:
		d.Add(n.Fault(finding.WrongType, path, "write true, false, or a list of paths such as [affinity]",
			"%s is %s, and must be true, false or a list of paths", path, n.Kind))
	}
}

// JSONSchema is how an editor checks it.
func (overlayPermit) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"type": "boolean"},
		map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}}
}

// Hints says where keys belong that people will put at the top.
func (Document) Hints() map[string]string {
	hints := podKeys("under baseline.k8s, or under a profile's k8s")
	hints["profiles"] = "write placement_profiles"
	for _, key := range []string{"active_runs", "active_steps"} {
		hints[key] = "put it under limits"
	}
	for _, key := range []string{"namespace", "keep", "node_lost_timeout", "force_delete_lost"} {
		hints[key] = "put it under executor.kubernetes"
	}
	hints["pod_security"] = "put it under executor.kubernetes"
	hints["k8s"] = "put it under baseline, or into a profile"
	hints["locked"] = "put it under baseline"
	return hints
}

// Hints says where keys of a pod spec belong.
func (baselineSection) Hints() map[string]string { return podKeys("under k8s") }

// Hints says where keys of a pod spec belong.
func (profileEntry) Hints() map[string]string { return podKeys("under k8s") }

func podKeys(where string) map[string]string {
	hints := map[string]string{}
	for _, key := range []string{"affinity", "annotations", "containers", "labels", "nodeSelector", "priorityClassName",
		"schedulerName", "securityContext", "spec", "tolerations", "topologySpreadConstraints"} {
		hints[key] = "put it " + where
	}
	hints["spec"] = "put what is below spec " + where
	return hints
}
