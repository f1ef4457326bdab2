package local_test

import (
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("NOT_OURS", "x")
	t.Setenv("KUBECONFIG", "x")
	b := begin(t, local.Options{Dir: t.TempDir()})
	job := script("env; printf 'dollar %s\\n' \"$1\"")
	job.Spec.Work.Args = texts("zero", "$HOME $(A) ${A}")
	job.Spec.Work.Env = map[string]plan.Text{"A": {Text: "$HOME $(B)"}, "B": {Text: "${{ late }}", Late: true}, "BERTH_RUN": {Text: "forged"}}
	job.Texts = map[string]string{"${{ late }}": "came to this"}
	b.Start(job)
	b.until(job.Ref, phase(run.PhaseEnded))
	lines := strings.Split(b.log(t, job.Ref, false), "\n")
	has := map[string]bool{}
	for _, l := range lines {
		has[l] = true
		for _, not := range []string{"NOT_OURS=", "KUBECONFIG=", "BERTH_WORKSPACE="} {
			if strings.HasPrefix(l, not) {
				t.Errorf("the step has %s", l)
			}
		}
	}
	for _, want := range []string{"A=$HOME $(B)", "B=came to this", "BERTH_ATTEMPT=1", "BERTH_FENCE=7", "BERTH_PIPELINE=p", "BERTH_RUN=r",
		"BERTH_STEP=s", "PATH=" + os.Getenv("PATH"), "dollar $HOME $(A) ${A}"} {
		if !has[want] {
			t.Errorf("%q is missing in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*plan.Step){
		"secrets":                   func(s *plan.Step) { s.Secrets = map[string]plan.Secret{"A": {}} },
		"service_account":           func(s *plan.Step) { s.ServiceAccount = "x" },
		"k8s_overlay":               func(s *plan.Step) { s.K8sOverlay = plan.Object{"spec": plan.Object{}} },
		"a service without command": func(s *plan.Step) { s.Work.Services = []plan.Service{{Name: "db", Image: "x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := begin(t, local.Options{Dir: dir})
			job := script("true")
			change(job.Spec)
			b.Start(job)
			o := b.until(job.Ref, phase(run.PhaseGone))
			if o.Refused == nil || o.Refused.Class != run.NeverStarted || o.Refused.Reason != reason.LocalUnsupported || !o.Refused.Final || o.Refused.Message == "" {
				t.Errorf("refused as %+v", o.Refused)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}
