package pipeline

import (
	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// Pipeline is the file, as it was written. Fields that the file does not have are zero.
type Pipeline struct {
	Version        int              `yaml:"version,required" doc:"version of the file format: 1"`
	Name           string           `yaml:"name,required" doc:"name of the pipeline: a DNS label of up to 40 characters"`
	Description    string           `yaml:"description" doc:"what the pipeline is for"`
	Environment    string           `yaml:"environment" doc:"environment of the operator file that runs of this pipeline target"`
	Timeout        source.Duration  `yaml:"timeout" doc:"how long the whole run may be active; without it there is no bound"`
	Params         map[string]Param `yaml:"params" doc:"parameters of a run, by name; each is a string"`
	MaxActiveSteps int              `yaml:"max_active_steps" doc:"how many steps of a run may be active at once; without it only the operator's bound holds"`
	Workspace      *Workspace       `yaml:"workspace" doc:"a volume that the steps of a run share, at $BERTH_WORKSPACE"`
	Defaults       Common           `yaml:"defaults" doc:"for every step: a step's own key replaces it, env is merged by name"`
	Steps          []Step           `yaml:"steps,required" doc:"the steps, in any order"`
}

// Hints says where keys of other systems and of steps belong.
func (Pipeline) Hints() map[string]string {
	return with(oldNames, map[string]string{
		"env":  "put it under defaults, where it holds for every step",
		"jobs": "write steps: a list of steps, each with a name", "stages": "write steps, with needs",
		"on":     "runs are started with berth run, or by the server's triggers, not by the file",
		"inputs": "write params", "parameters": "write params", "vars": "write params",
		"parallelism": "write max_active_steps", "volumes": "write workspace",
	})
}

// Param is a parameter of a run.
type Param struct {
	Description string       `yaml:"description" doc:"what it is for"`
	Required    bool         `yaml:"required" doc:"whether a run has to give it; then it has no default"`
	Default     *source.Text `yaml:"default" doc:"its value in runs that don't give it; without it, the empty string"`
	Pattern     string       `yaml:"pattern" doc:"a regular expression (RE2) that some part of the value must match; anchor it with ^ and $"`
}

// Workspace is a volume that the steps of a run share.
type Workspace struct {
	Size         string     `yaml:"size,required" doc:"how large: a quantity, such as 10Gi"`
	StorageClass string     `yaml:"storage_class" doc:"StorageClass; without it, the cluster's default"`
	AccessMode   AccessMode `yaml:"access_mode" doc:"how nodes may mount it; ReadWriteOnce if absent: steps that run at once then share a node"`
}

// AccessMode is an access mode of a PersistentVolumeClaim.
type AccessMode string

// Values gives the modes in which steps can write.
func (AccessMode) Values() []string { return []string{"ReadWriteOnce", "ReadWriteMany"} }

// File is a pipeline file that was read.
type File struct {
	Name     string // as its user named it
	Pipeline Pipeline

	root     *source.Node
	steps    []step // resolved, in the order of the file
	index    map[string]int
	variants [][]Variant // of each step: its instances
	scopes   []scopes    // of each step
	compiler *expression.Compiler
	options  Options
}

// Options are what the operator decides about reading a file.
type Options struct {
	Privileged bool // pod security is privileged: fields that Berth does not know may pass in k8s_overlay
}

// Parse reads a file. It gives nil if there are errors among the findings.
func Parse(name string, text []byte, options Options) (*File, finding.List) {
	root, findings := source.Parse(name, text)
	if root == nil {
		return nil, findings
	}
	if root.Field("steps") == nil && (root.Field("baseline") != nil || root.Field("environments") != nil || root.Field("placement_profiles") != nil) {
		findings.Add(root.Fault(finding.OtherFile, "", "give it with --operator", "this is an operator file, and a pipeline is wanted"))
		return nil, findings
	}
	f := &File{Name: name, root: root, options: options}
	c := checker{file: f}
	if c.crowded(Place{root, ""}); len(c.findings) > 0 {
		findings.Add(c.findings...)
		return nil, findings
	}
	findings.Join(source.Decode(root, &f.Pipeline))
	c.all()
	f.index = c.index
	findings.Add(c.findings...)
	if findings.HasErrors() {
		return nil, findings
	}
	return f, findings
}

func with(a, b map[string]string) map[string]string {
	all := make(map[string]string, len(a)+len(b))
	for k, v := range a {
		all[k] = v
	}
	for k, v := range b {
		all[k] = v
	}
	return all
}

// At is where a key of the pipeline was written.
func (f *File) At(key string) Place { return Place{f.root, ""}.Below(key) }
