package pipeline

import (
	"path"
	"slices"
	"strings"

	"github.com/distribution/reference"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/source"
)

// step checks what can be told of one step.
func (c *checker) step(s *step) {
	c.name(s.at("name"), "step", s.Name, ident.Label(s.Name, longestID))
	c.work(s)
	if s.has("image") {
		c.image(s.at("image"))
	}
	c.variables(s)
	c.services(s)
	c.outputs(s)
	c.workingDir(s)
	c.retry(s)
	for _, key := range []string{"timeout", "schedule_timeout", "image_timeout"} {
		if s.has(key) {
			c.length(s.at(key))
		}
	}
	if s.has("pool") && !expression.Has(s.Pool) {
		c.name(s.at("pool"), "pool", s.Pool, ident.Label(s.Pool, 63))
	}
	if at := s.at("priority"); s.has("priority") && (s.Priority > 1_000_000 || s.Priority < -1_000_000) {
		c.fault(at, finding.NumberOutOfRange, "write a number from -1000000 to 1000000", "%s is %d", at.Path, s.Priority)
	}
	if s.has("placement_profiles") {
		c.profiles(s)
	}
	if s.Workspace != nil && c.file.Pipeline.Workspace == nil {
		c.fault(s.at("workspace"), finding.NoEffect, "add workspace: {size: 10Gi} to the pipeline, or remove the key",
			"the run has no workspace that the step could have or do without")
	}
}

// profiles refuses a profile that is listed twice: it is merged once.
func (c *checker) profiles(s *step) {
	for i, name := range s.PlacementProfiles {
		if name != "" && slices.Contains(s.PlacementProfiles[:i], name) {
			c.fault(s.at("placement_profiles").Item(i), finding.KeyTwice, "write it once", "the profile %s is listed twice", name)
		}
	}
}

// image checks an image that is there and is known.
func (c *checker) image(at Place) {
	if at.Node != nil && at.Node.Kind == source.String && !expression.Has(at.Node.Text) {
		c.findings = append(c.findings, imageFaults(at, at.Node.Text)...)
	}
}

// imageFaults refuses what no container runtime could pull.
func imageFaults(at Place, image string) []finding.Finding {
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return []finding.Finding{at.Fault(finding.ValueInvalid, "write NAME:TAG, such as golang:1.26", "%s is no image, %q: %v", at.Path, image, err)}
	}
	return nil
}

// work checks that the step says in one way what it does.
func (c *checker) work(s *step) {
	run, command := s.has("run"), s.has("command")
	switch {
	case run && command:
		c.fault(s.at("command"), finding.KeysExclusive, "keep one of them", "%s has both run and command", s.path)
	case !run && !command && s.node.Kind == source.Map && slices.ContainsFunc(s.node.Fields, func(f source.Field) bool { return strings.HasPrefix(oldNames[f.Name], "write run") }):
		// It says so by a name of another system, of which it was told.
	case !run && !command:
		c.fault(Place{s.node, s.path}, finding.KeyMissing, "add run: with a script, or command: with a list", "%s has neither run nor command", s.path)
	case run && s.at("run").Node.Kind == source.String && strings.TrimSpace(s.Run) == "":
		c.fault(s.at("run"), finding.ValueInvalid, "write a script", "%s is empty", s.at("run").Path)
	case command && s.at("command").Node.Kind == source.List && len(s.Command) == 0:
		c.fault(s.at("command"), finding.ValueInvalid, "write a program and its arguments", "%s is empty", s.at("command").Path)
	}
	if len(s.Run) > MostScriptBytes {
		c.fault(s.at("run"), finding.TooLarge, "move the script into a file of the repository", "the script has %d bytes, and %d are the most", len(s.Run), MostScriptBytes)
	}
	if run && s.has("args") {
		c.fault(s.at("args"), finding.KeysExclusive, "write the arguments into the script, or use command", "args go with command, not with run")
	}
	if !run && s.node.Field("shell") != nil {
		c.fault(s.at("shell"), finding.NoEffect, "remove it, or write run instead of command", "shell runs the script of run, and this step has none")
	}
	if s.has("shell") && s.at("shell").Node.Kind == source.List && len(s.Shell) == 0 {
		c.fault(s.at("shell"), finding.ValueInvalid, "write a program: [bash, -euo, pipefail]", "%s is empty", s.at("shell").Path)
	}
}

// variables checks env and secrets, which share their names.
func (c *checker) variables(s *step) {
	if s.node.Field("env") != nil {
		c.envNames(s.at("env"))
	}
	if !s.has("secrets") {
		return
	}
	at := s.at("secrets")
	c.envNames(at)
	for _, f := range at.Node.Fields {
		here := at.Below(f.Name)
		if _, both := s.Env[f.Name]; both {
			c.fault(Place{f.Key, here.Path}, finding.NameTwice, "choose another name for one of them", "%s is in env and in secrets", f.Name)
		}
		if f.Value.Kind == source.String && !expression.Has(f.Value.Text) {
			c.findings = append(c.findings, secretFaults(here, f.Value.Text)...)
		}
	}
}

// secretFaults checks SECRET/KEY.
func secretFaults(at Place, text string) []finding.Finding {
	secret, key, ok := strings.Cut(text, "/")
	if !ok {
		return []finding.Finding{at.Fault(finding.ValueInvalid, "write SECRET/KEY", "%q does not say which key of which Secret", text)}
	}
	var found []finding.Finding
	if err := ident.Subdomain(secret); err != nil {
		found = append(found, at.Fault(finding.NameInvalid, "write SECRET/KEY", "the name of the Secret, %q, %v", secret, err))
	}
	if err := ident.SecretKey(key); err != nil {
		found = append(found, at.Fault(finding.NameInvalid, "write SECRET/KEY", "the key of the Secret, %q, %v", key, err))
	}
	return found
}

func (c *checker) services(s *step) {
	seen := map[string]bool{"step": true}
	for i := range s.Services {
		v, at := &s.Services[i], s.at("services").Item(i)
		c.name(at.Below("name"), "service", v.Name, ident.Label(v.Name, 63))
		if seen[v.Name] && v.Name != "" {
			c.fault(at.Below("name"), finding.NameTwice, "choose another name", "%s is a container of this pod already", v.Name)
		}
		seen[v.Name] = true
		c.envNames(at.Below("env"))
		c.image(at.Below("image"))
		if v.Ready != nil {
			c.ready(v.Ready, at.Below("ready"))
		}
	}
}

func (c *checker) ready(r *Ready, at Place) {
	if at.Node.Kind == source.Map && len(at.Node.Fields) != 1 {
		c.fault(at, finding.KeysExclusive, "write one of tcp, http and exec", "%s has %d ways to tell that the service is ready", at.Path, len(at.Node.Fields))
	}
	port := func(at Place, n int) {
		if at.Node != nil && at.Node.Kind == source.Int && (n < 1 || n > 65535) {
			c.fault(at, finding.NumberOutOfRange, "write a port from 1 to 65535", "%s is %d", at.Path, n)
		}
	}
	port(at.Below("tcp"), r.TCP)
	if r.HTTP != nil {
		port(at.Below("http").Below("port"), r.HTTP.Port)
		if p := at.Below("http").Below("path"); p.Node != nil && !strings.HasPrefix(r.HTTP.Path, "/") {
			c.fault(p, finding.ValueInvalid, "begin it with a slash", "%s is %q", p.Path, r.HTTP.Path)
		}
	}
	if e := at.Below("exec"); e.Node != nil && e.Node.Kind == source.List && len(r.Exec) == 0 {
		c.fault(e, finding.ValueInvalid, "write a program and its arguments", "%s is empty", e.Path)
	}
}

// outputsBudget is how many bytes the outputs of a step may have together. A container's termination
// message has 4096 at most, and those of a pod 12288 together; the kubelet keeps the last ones, so that
// a message of exactly the bound may have been cut (kubelet/container/runtime.go,
// MaxPodTerminationMessageLogLength).
func outputsBudget(containers int) int { return min(4096, 12288/containers) - 1 }

func (c *checker) outputs(s *step) {
	seen, size := map[string]bool{}, 0
	for i, name := range s.Outputs {
		at := s.at("outputs").Item(i)
		c.name(at, "output", name, ident.Variable(name))
		if seen[name] && name != "" {
			c.fault(at, finding.KeyTwice, "write it once", "the output %s is declared twice", name)
		}
		seen[name] = true
		size += len(name) + len("=\n")
	}
	if budget := outputsBudget(1 + len(s.Services)); size > budget {
		c.fault(s.at("outputs"), finding.TooLarge, "declare fewer outputs; files go into the workspace",
			"the names of the outputs alone are %d bytes, and %d are the most for all outputs together", size, budget)
	}
}

func (c *checker) workingDir(s *step) {
	dir := s.WorkingDir
	if dir == "" || expression.Has(dir) {
		return
	}
	c.findings = append(c.findings, workingDirFault(s, dir, c.file.Pipeline.hasWorkspace(s))...)
}

// hasWorkspace says whether the step has the run's volume.
func (p *Pipeline) hasWorkspace(s *step) bool {
	return p.Workspace != nil && (s.Workspace == nil || *s.Workspace)
}

func workingDirFault(s *step, dir string, workspace bool) []finding.Finding {
	at := s.at("working_dir")
	switch {
	case path.IsAbs(dir):
		return nil
	case !workspace:
		return []finding.Finding{at.Fault(finding.ValueInvalid, "write an absolute path, or give the pipeline a workspace",
			"%s is relative to a workspace, and the step has none", at.Path)}
	case path.Clean(dir) == ".." || strings.HasPrefix(path.Clean(dir), "../"):
		return []finding.Finding{at.Fault(finding.ValueInvalid, "write a path inside of the workspace, or an absolute one",
			"%s leads out of the workspace", at.Path)}
	}
	return nil
}

func (c *checker) retry(s *step) {
	if s.Retry == nil {
		return
	}
	at := s.at("retry")
	if limit := at.Below("max"); limit.Node != nil && limit.Node.Kind == source.Int && (s.Retry.Max < 1 || s.Retry.Max > mostRetries) {
		c.fault(limit, finding.NumberOutOfRange, "write a number from 1 to 10, or leave retry out", "%s is %d", limit.Path, s.Retry.Max)
	}
	on := at.Below("on")
	if on.Node != nil && on.Node.Kind == source.List && len(s.Retry.On) == 0 {
		c.fault(on, finding.ValueInvalid, "write failure, oom, timeout or lost, or leave the key out for all of them", "%s is empty: nothing would be retried", on.Path)
	}
	seen := map[RetryOn]bool{}
	for i, class := range s.Retry.On {
		if seen[class] && class != "" {
			c.fault(on.Item(i), finding.KeyTwice, "write it once", "%s has %s twice", on.Path, class)
		}
		seen[class] = true
	}
	c.length(at.Below("backoff"))
}
