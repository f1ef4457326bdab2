package cli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// runFlags is the command line of run.
type runFlags struct {
	target
	environment, step, state, output string
	params                           []string
	keep                             bool
	growth                           int // of the heap until it is collected, in percent, once the run is recorded
}

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a pipeline, in a cluster or on this machine",
		Long: `Run a pipeline, and show what happens: its steps, where they are, what they wait for, and what they
write. - is standard input.

With --executor kubernetes each step is a pod in the namespace. It is the default where the operator
file has executor.kubernetes, or where --kubeconfig, --context or --namespace is given. With --executor
local each step is a process of this machine, in a copy of the current git working tree if the pipeline
has a workspace: profiles, resources and images have no effect there.

What happens is recorded in the state folder: "berth runs" lists it, "berth show" and "berth logs" read
it, and "berth resume" goes on with a run whose berth has ended. Ctrl-C once cancels the run and waits
until its steps have ended; twice leaves at once, and what is left over is removed on the next start.

Exit codes: 0; 1 the run failed; 2 a file or a flag is invalid; 3 the operator's rules refuse the run;
4 the cluster or the state can't be reached; 130 cancelled.`,
		Example: `  berth run examples/hello.yaml
  berth run release.yaml --operator operator.yaml --param version=v1.2.3
  berth run release.yaml --executor local --step build
  berth run release.yaml --operator operator.yaml -o json | jq -r 'select(.kind == "step")'`,
		Args: oneFile,
	}
	var f runFlags
	operator := addOperator(cmd)
	environment, params := addRun(cmd)
	f.target.add(cmd)
	state := addState(cmd)
	cmd.Flags().StringVar(&f.step, "step", "", "run this step and what it needs: its name, or that of one instance of its matrix")
	cmd.Flags().BoolVar(&f.keep, "keep", false, "leave the pods and the workspace when the run has ended")
	output := addFormat(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.Operator, f.environment, f.params, f.state, f.output = *operator, *environment, *params, *state, output.value
		return runPipeline(cmd, args[0], f)
	}
	return cmd
}

// thrifty is how much the heap may grow, in percent, until it is collected, while a run is planned. A plan is made at
// once, with all that explains it, and is small when it is recorded: what it took to make it would be the most that the
// process ever takes.
const thrifty = 25

// runPipeline plans the run, records it, and sees it through.
func runPipeline(cmd *cobra.Command, name string, f runFlags) error {
	f.growth = debug.SetGCPercent(thrifty)
	params, err := parseParams(cmd, f.params)
	if err != nil {
		return err
	}
	in := newInputs(cmd)
	operator, file, findings, err := in.both(f.Operator, "", name)
	if err != nil {
		return err
	}
	if file == nil || operator == nil {
		printFindings(cmd.ErrOrStderr(), findings, in.sources)
		fmt.Fprintln(cmd.ErrOrStderr(), summary(1, findings))
		return said(exitInvalid)
	}
	if err := f.choose(cmd, operator); err != nil {
		return err
	}
	out := f.plan(file, operator, pipeline.Input{Params: params, Environment: f.environment})
	findings.Join(out.Findings)
	if out.Plan != nil && f.step != "" {
		if out.Plan, err = only(cmd, out.Plan, f.step); err != nil {
			return err
		}
	}
	printFindings(cmd.ErrOrStderr(), findings, in.sources)
	if out.Plan == nil && !out.Refused {
		fmt.Fprintln(cmd.ErrOrStderr(), summary(1, findings))
		return said(exitInvalid)
	}
	return start(cmd, f, name, out, findings)
}

// plan makes the plan for the executor that was chosen.
func (f *runFlags) plan(file *pipeline.File, operator *profile.File, in pipeline.Input) plan.Outcome {
	if f.Executor == executorLocal {
		return plan.MakeLocal(file, operator, in, govern.Who{Embedded: true})
	}
	return plan.Make(file, operator, in, govern.Who{Embedded: true})
}

// only leaves of a plan one step, or the instances of one, and what they need.
func only(cmd *cobra.Command, p *plan.Plan, step string) (*plan.Plan, error) {
	wanted := map[string]bool{}
	for i := range p.Steps {
		if isCalled(&p.Steps[i], step) {
			wanted[p.Steps[i].ID] = true
		}
	}
	if len(wanted) == 0 {
		return nil, noStep(cmd, p, step)
	}
	for before := 0; before < len(wanted); {
		before = len(wanted)
		for i := range p.Steps {
			if wanted[p.Steps[i].ID] {
				for _, need := range p.Steps[i].Needs {
					wanted[need] = true
				}
			}
		}
	}
	part := *p
	part.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s plan.Step) bool { return !wanted[s.ID] })
	return &part, nil
}

// start records the run and sees it through; one that is refused is recorded, and that is all.
func start(cmd *cobra.Command, f runFlags, name string, out plan.Outcome, findings finding.List) error {
	folder, err := stateFolder(f.state)
	if err != nil {
		return &codeError{exitNoService, err}
	}
	ctx := cmd.Context()
	s, err := openStore(ctx, folder)
	if err != nil {
		if out.Refused {
			return said(exitRefused)
		}
		return err
	}
	defer s.Close()
	id := ulid.MustNew(ulid.Timestamp(time.Now()), rand.Reader).String()
	if out.Refused {
		rejected := &run.State{ID: id, Status: run.Rejected, CreatedAt: time.Now(), EndedAt: time.Now()}
		err := s.Submit(ctx, store.Submission{ID: id, Target: f.Executor, Source: name, State: rejected, Findings: findings, Plan: out.Header,
			Entries: []run.Entry{{At: time.Now(), Kind: run.KindRun, Status: string(run.Rejected)}}})
		if err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "The operator's rules refuse this run; \"berth show %s\" has it on record.\n", id)
		}
		return said(exitRefused)
	}
	w := &work{cmd: cmd, folder: folder, store: s, target: f.target, output: f.output}
	if err := w.open(ctx); err != nil {
		return err
	}
	defer w.close()
	setup, err := json.Marshal(setup{f.target, f.keep})
	if err != nil {
		return err
	}
	state, entries := run.New(out.Plan, id, time.Now())
	err = s.Submit(ctx, store.Submission{ID: id, Target: w.name, Setup: setup, Source: absolute(name), Plan: out.Plan, State: state, Findings: findings, Entries: entries})
	if err != nil {
		return &codeError{exitNoService, err}
	}
	debug.SetGCPercent(f.growth)
	debug.FreeOSMemory()
	return w.seeThrough(ctx, id)
}

// setup is how a run is found again by whoever resumes it.
type setup struct {
	target
	Keep bool `json:"keep,omitempty"`
}

func absolute(name string) string {
	if name == "-" {
		return name
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// holder is who has the lease, for whoever finds it taken.
func holder() string {
	return fmt.Sprintf("berth (pid %d) since %s", os.Getpid(), time.Now().Format(time.RFC3339))
}

// inUse explains that another berth has the state.
func inUse(err error, folder string) error {
	var held *store.HeldError
	if errors.As(err, &held) {
		return &codeError{exitNoService, fmt.Errorf("%s works with the state in %s\nWait until it has ended, or name another folder with --state DIR", held.Holder, folder)}
	}
	return &codeError{exitNoService, err}
}
