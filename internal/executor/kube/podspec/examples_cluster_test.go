package podspec

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
)

const examples = "../../../../examples"

// The pods of every example pass a strict dry run, in a namespace with the operator's pod security
// standard, with nothing dropped and no warning.
func TestExamples(t *testing.T) {
	t.Parallel()
	pods := 0
	err := filepath.WalkDir(examples, func(path string, d fs.DirEntry, err error) error {
		// What is in examples is a pipeline, but for what stands beside it under a name of its own.
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || slices.Contains([]string{"operator.yaml", "nodes.yaml"}, d.Name()) {
			return err
		}
		if filepath.Base(filepath.Dir(path)) == "why" { // objects of a cluster; test/scenario asks why of them
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		operator := profile.Empty()
		if rules, err := os.ReadFile(filepath.Join(filepath.Dir(path), "operator.yaml")); err == nil {
			operator = loaded(t, string(rules))
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			pods += example(t, string(text), operator)
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pods", pods)
	if pods < 7 {
		t.Errorf("%d pods only: examples are missing", pods)
	}
}

// example checks the pods of a pipeline, and says how many there are.
func example(t *testing.T, text string, operator *profile.File) int {
	file, findings := pipeline.Parse("example.yaml", []byte(text), pipeline.Options{})
	if file == nil {
		t.Fatal(findings.Text(nil))
	}
	in := pipeline.Input{Params: map[string]string{}}
	for name, p := range file.Pipeline.Params {
		if p.Required {
			in.Params[name] = "v1.2.3"
		}
	}
	made := planned(t, text, operator, in)
	var accounts []string
	for _, s := range made.Steps {
		if s.ServiceAccount != "" && !slices.Contains(accounts, s.ServiceAccount) {
			accounts = append(accounts, s.ServiceAccount)
		}
	}
	n := newNamespace(t, operator.PodSecurity, accounts...)
	for i := range made.Steps {
		s := &made.Steps[i]
		late := make([]string, len(Authored(s)))
		n.accept(t, attempt(t, s, n.facts(late...)), true)
	}
	return len(made.Steps)
}
