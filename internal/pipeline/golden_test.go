package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata show what a pipeline file may say and what is said of mistakes in it. Each
// case begins with "== TITLE" and prose. "-- file --" is the pipeline, "-- params --" has NAME=VALUE lines
// and "-- environment --" a name; "-- findings --" is what was found, and "-- steps --", if there are no
// errors, what the steps of the run are.
func TestGolden(t *testing.T) {
	seen := map[finding.Code]bool{}
	transcript.Test(t, "testdata/*.txt", func(_ *testing.T, text string) string { return transcribe(text, seen) })
	own := []finding.Code{finding.KeysExclusive, finding.NoEffect, finding.NeedUnknown, finding.NeedsCycle, finding.MatrixUnused, finding.ValueInScript,
		finding.ParameterMissing, finding.ParameterUnknown, finding.ParameterInvalid, finding.ReferenceLiteral, finding.UnknownKey, finding.KeyMissing,
		finding.NameInvalid, finding.NameTwice, finding.ValueInvalid, finding.ValueUnknown, finding.TooLarge, finding.KeyTwice, finding.ExpressionMisplaced}
	for _, code := range own {
		if !seen[code] {
			t.Errorf("no transcript shows %s", code)
		}
	}
}

func transcribe(text string, seen map[finding.Code]bool) string {
	out, sections := transcript.Sections(text)
	var file string
	in := Input{Params: map[string]string{}}
	for _, section := range sections {
		name, body := section.Name, section.Body
		switch name {
		case "findings", "steps":
			continue
		case "file":
			file = body
		case "params":
			for line := range strings.Lines(body) {
				if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
					in.Params[k] = v
				}
			}
		case "environment":
			in.Environment = strings.TrimSpace(body)
		}
		out += section.String()
	}
	f, findings := Parse("p.yaml", []byte(file), Options{})
	var steps string
	if f != nil {
		expansion, more := f.Expand(in)
		findings.Join(more)
		if expansion != nil && !findings.HasErrors() {
			steps = "-- steps --\n" + dump(expansion)
		}
	}
	for _, f := range findings.All() {
		seen[f.Code] = true
	}
	return out + "-- findings --\n" + findings.Text(map[string]string{"p.yaml": file}) + steps
}

// dump has a line for each thing that a step says.
func dump(e *Expansion) string {
	var b strings.Builder
	if e.Environment != "" {
		fmt.Fprintf(&b, "environment %s\n", e.Environment)
	}
	for _, s := range e.Steps {
		fmt.Fprintf(&b, "%s [%s]\n", s.Name, s.ID)
		line := func(name string, v any) {
			if text := shown(v); text != "" {
				fmt.Fprintf(&b, "  %s: %s\n", name, text)
			}
		}
		line("needs", s.Needs)
		line("if", s.If)
		line("image", s.Image)
		if s.Script != nil {
			line("run", append(slices.Clone(s.Shell), "-c", s.Script.show()))
		}
		line("command", values(s.Command))
		line("args", values(s.Args))
		line("working_dir", s.WorkingDir)
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			line("env "+name, s.Env[name].show())
		}
		for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
			line("secret "+name, s.Secrets[name].Secret+" "+s.Secrets[name].Key)
		}
		for _, service := range s.Services {
			line("service "+service.Name, fmt.Sprint(service.Image, values(service.Command), values(service.Args)))
		}
		line("placement_profiles", s.PlacementProfiles)
		if s.Resources != nil {
			line("resources", s.Resources.Object())
		}
		if s.Overlay.Node != nil {
			line("k8s_overlay", s.Overlay.Value)
		}
		line("service_account", s.ServiceAccount)
		line("pool", s.Pool)
		if s.Priority != 0 {
			line("priority", s.Priority)
		}
		if s.Retry != nil {
			line("retry", fmt.Sprint(s.Retry.Max, s.Retry.On, s.Retry.Backoff))
		}
		line("timeouts", fmt.Sprint(s.Timeout, s.ScheduleTimeout, s.ImageTimeout))
		line("outputs", s.Outputs)
		if s.Workspace {
			line("workspace", true)
		}
		if s.AllowFailure {
			line("allow_failure", true)
		}
	}
	return b.String()
}

func (v Value) show() string {
	if v.Late {
		return v.Text + " (late)"
	}
	return v.Text
}

func values(all []Value) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.show())
	}
	return out
}

func shown(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		if len(v) == 0 {
			return ""
		}
	}
	data, _ := json.Marshal(v)
	return string(data)
}
