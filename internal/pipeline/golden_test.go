package pipeline

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// The transcripts in testdata show what a pipeline file may say and what is said of mistakes in it. Each
// case begins with "== TITLE" and prose. "-- file --" is the pipeline, "-- params --" has NAME=VALUE lines
// and "-- environment --" a name; "-- findings --" is what was found, and "-- steps --", if there are no
// errors, what the steps of the run are.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[finding.Code]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for i, text := range strings.Split("\n"+string(data), "\n== ") {
			if i == 0 {
				out.WriteString(strings.TrimPrefix(text, "\n"))
				continue
			}
			out.WriteString("\n== " + transcribe(text, seen))
		}
		got := strings.TrimPrefix(out.String(), "\n")
		switch {
		case got == string(data):
		case *update:
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s: not as it says (-update writes it anew):\n%s", file, firstDifference(string(data), got))
		}
	}
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
	sections := strings.Split(text, "\n-- ")
	out := sections[0]
	var file string
	in := Input{Params: map[string]string{}}
	for _, section := range sections[1:] {
		name, body, ok := strings.Cut(section, " --\n")
		if !ok {
			name = strings.TrimSuffix(section, " --")
		}
		switch name {
		case "findings", "steps":
			continue
		case "file":
			file = strings.TrimRight(body, "\n") + "\n"
			body = file
		case "params":
			for line := range strings.Lines(body) {
				if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
					in.Params[k] = v
				}
			}
		case "environment":
			in.Environment = strings.TrimSpace(body)
		}
		out += "\n-- " + name + " --\n" + strings.TrimRight(body, "\n")
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
	return out + "\n-- findings --\n" + findings.Text(map[string]string{"p.yaml": file}) + steps
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

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "got\n" + strings.Join(g[i:min(len(g), i+8)], "\n") + "\nwant\n" + w[i]
		}
	}
	return "one is longer"
}
