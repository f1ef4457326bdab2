package pipeline

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/source"
)

// expander makes the steps of a run.
type expander struct {
	file     *File
	out      Expansion
	partial  map[string]bool // parameters that are not known
	values   expression.Values
	scope    scopes
	step     *step
	overlays int  // values of all overlays so far
	tooMany  bool // of them, which has been said
	findings []finding.Finding
}

// Expand makes the steps of a run. They are not to be used if there are errors among the findings.
func (f *File) Expand(in Input) (*Expansion, finding.List) {
	e := expander{file: f, out: Expansion{File: f, Params: map[string]string{}}, partial: map[string]bool{}}
	e.params(in)
	e.environment(in)
	allowance := &expression.Allowance{}
	if finding.Of(e.findings...).HasErrors() {
		return nil, finding.Of(e.findings...)
	}
	for i := range f.steps {
		e.step, e.scope = &f.steps[i], f.scopes[i]
		needs := e.needs()
		for _, v := range f.variants[i] {
			e.values = expression.Values{Params: e.out.Params, Matrix: v.Combination.Map(),
				Run: expression.Run{Pipeline: f.Pipeline.Name, Environment: e.out.Environment}, Allowance: allowance}
			e.out.Steps = append(e.out.Steps, e.instance(v, needs))
		}
	}
	return &e.out, finding.Of(e.findings...)
}

// params takes what is given, and the defaults.
func (e *expander) params(in Input) {
	known := e.file.Pipeline.Params
	for _, name := range sortedKeys(in.Params) {
		if _, ok := known[name]; !ok {
			otherwise := "the pipeline has no parameters"
			if len(known) > 0 {
				otherwise = "there are: " + strings.Join(sortedKeys(known), ", ")
			}
			e.findings = append(e.findings, finding.Finding{Code: finding.ParameterUnknown, Severity: finding.Error, Path: "params." + name,
				Message: "the run gives the parameter " + name + ", and the pipeline has none of that name",
				Fix:     finding.DidYouMean(name, sortedKeys(known), otherwise)})
		}
	}
	top := e.file.At("params")
	for _, name := range sortedKeys(known) {
		p, at := known[name], top.Below(name)
		v, given := in.Params[name]
		switch {
		case !given && p.Required && in.Partial:
			e.partial[name] = true
			continue
		case !given && p.Required:
			e.fault(at, finding.ParameterMissing, "add --param "+name+"=VALUE",
				"the parameter %s is required, and the run does not give it", p.called(name))
			continue
		case !given && p.Default != nil:
			v = string(*p.Default)
		}
		if given && (!utf8.ValidString(v) || strings.ContainsRune(v, 0)) {
			e.fault(at, finding.ParameterInvalid, "write text in UTF-8",
				"the parameter %s has bytes that are no text: nothing could hold it as it is", p.called(name))
			continue
		}
		if given && !regexp.MustCompile(p.Pattern).MatchString(v) { // Parse compiled it
			e.fault(at.Below("pattern"), finding.ParameterInvalid, "",
				"the parameter %s is %q, which does not match %s", p.called(name), v, p.Pattern)
		}
		e.out.Params[name] = v
	}
}

// called is the parameter's name, with what it is for.
func (p Param) called(name string) string {
	if p.Description == "" {
		return name
	}
	return name + " (" + p.Description + ")"
}

func (e *expander) environment(in Input) {
	own := e.file.Pipeline.Environment
	e.out.Environment = own
	if in.Environment == "" || in.Environment == own {
		return
	}
	if own != "" {
		e.fault(e.file.At("environment"), finding.KeysExclusive, "leave one of them out",
			"the pipeline targets the environment %s, and the run is to target %s", own, in.Environment)
	}
	e.out.Environment = in.Environment
}

// needs gives the IDs of all instances of what the step needs, in the order of the file.
func (e *expander) needs() []string {
	var needed []int
	for _, need := range e.step.Needs {
		needed = append(needed, e.file.index[need])
	}
	slices.Sort(needed)
	var ids []string
	for _, i := range needed {
		for _, v := range e.file.variants[i] {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

func (e *expander) instance(v Variant, needs []string) Instance {
	s := e.step
	i := Instance{Variant: v, Step: s.Name, Needs: needs, If: s.If, Outputs: s.Outputs,
		Priority: s.Priority, Retry: s.Retry.complete(), AllowFailure: s.AllowFailure, from: s,
		Timeout: orElse(s.Timeout, time.Hour), ScheduleTimeout: orElse(s.ScheduleTimeout, 15*time.Minute),
		ImageTimeout: orElse(s.ImageTimeout, 5*time.Minute)}
	i.Workspace = e.file.Pipeline.hasWorkspace(s)
	i.Image = e.image(s.from["image"])
	i.WorkingDir = e.string(s.from["working_dir"])
	if i.WorkingDir != "" {
		e.findings = append(e.findings, workingDirFault(s, i.WorkingDir, i.Workspace)...)
		i.WorkingDir = path.Clean(i.WorkingDir)
	}
	if i.Shell = e.strings(s.from["shell"]); len(i.Shell) == 0 {
		i.Shell = []string{"/bin/sh", "-e"}
	}
	if at, ok := s.from["run"]; ok {
		script := e.value(at)
		i.Script = &script
	}
	i.Command, i.Args = e.list(s.from["command"]), e.list(s.from["args"])
	i.Env = map[string]Value{}
	for _, name := range sortedKeys(s.env) {
		i.Env[name] = e.value(s.env[name])
	}
	i.Secrets = e.secrets(s.from["secrets"])
	i.Services = e.services(s.from["services"])
	i.PlacementProfiles = e.known(s.from["placement_profiles"])
	i.Resources = e.resources(s.from["resources"])
	i.Overlay = e.overlay(s.from["k8s_overlay"])
	i.ServiceAccount = e.named(s.from["service_account"], "service account", ident.Subdomain)
	i.Pool = e.named(s.from["pool"], "pool", func(name string) error { return ident.Label(name, 63) })
	return i
}

// complete fills in what was left open.
func (r *Retry) complete() *Retry {
	if r == nil {
		return nil
	}
	c := *r
	if len(c.On) == 0 {
		for _, class := range RetryOn("").Values() {
			c.On = append(c.On, RetryOn(class))
		}
	}
	if c.Backoff == 0 {
		c.Backoff = source.Duration(10 * time.Second)
	}
	return &c
}

func orElse(d source.Duration, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return time.Duration(d)
}

func (e *expander) fault(at Place, code finding.Code, fix, format string, args ...any) {
	e.findings = append(e.findings, at.Fault(code, fix, format, args...))
}

// image is a string that a container runtime can pull.
func (e *expander) image(at Place) string {
	image := e.string(at)
	if at.Node != nil && !e.open(at) {
		e.findings = append(e.findings, imageFaults(at, image)...)
	}
	return image
}

// named is a string that is a name.
func (e *expander) named(at Place, what string, check func(string) error) string {
	if at.Node == nil || e.open(at) {
		return ""
	}
	name := e.string(at)
	if err := check(name); err != nil {
		e.fault(at, finding.NameInvalid, "", "the name of the %s, %q, %v", what, name, err)
	}
	return name
}

func (e *expander) secrets(at Place) map[string]SecretKey {
	if at.Node == nil {
		return nil
	}
	all := map[string]SecretKey{}
	for _, f := range at.Node.Fields {
		here := at.Below(f.Name)
		text := e.string(here)
		if e.open(here) {
			continue
		}
		e.findings = append(e.findings, secretFaults(here, text)...)
		secret, key, _ := strings.Cut(text, "/")
		all[f.Name] = SecretKey{secret, key}
	}
	return all
}

func (e *expander) services(at Place) []ServiceInstance {
	var all []ServiceInstance
	for n := range e.step.Services {
		s, here := &e.step.Services[n], at.Item(n)
		instance := ServiceInstance{Name: s.Name, Image: e.image(here.Below("image")), Command: e.list(here.Below("command")),
			Args: e.list(here.Below("args")), Env: map[string]Value{}, Ready: s.Ready, Resources: e.resources(here.Below("resources"))}
		if env := here.Below("env"); env.Node != nil {
			for _, f := range env.Node.Fields {
				instance.Env[f.Name] = e.value(env.Below(f.Name))
			}
		}
		all = append(all, instance)
	}
	return all
}
