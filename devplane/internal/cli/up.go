package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/realnode"
	"github.com/spf13/cobra"
)

type upFlags struct {
	nodes       string
	opts        plane.Options
	detach      bool
	lifeline    bool
	requireReal bool
}

func upCommand(version string) *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster and keep it up",
		Long: "up starts a cluster, writes DIR/kubeconfig and prints its path once every node is ready.\n" +
			"It stays in the foreground until Ctrl-C, or with --detach goes on in the background until\n" +
			"`devplane down`. The cluster's data ends with it; its logs stay in DIR/logs.",
		Example: "  devplane up --nodes nodes.yaml\n  devplane up --nodes nodes.yaml --detach --dir /tmp/a",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return up(f) },
	}
	dir := dirFlag(c)
	fl := c.Flags()
	fl.StringVar(&f.nodes, "nodes", "", "node file; without one, a single process node without taints")
	fl.BoolVar(&f.detach, "detach", false, "return when the cluster is ready and leave it running")
	fl.BoolVar(&f.lifeline, "lifeline", false, "end when standard input closes, so that no cluster outlives a killed test")
	fl.BoolVar(&f.requireReal, "require-real", false, "fail if this machine can't run the real nodes of the node file, instead of running process nodes in their place")
	fl.StringVar(&f.opts.FeatureGates, "feature-gates", "", "NAME=true,... for every Kubernetes part")
	fl.DurationVar(&f.opts.NodeGrace, "node-grace", 16*time.Second, "how long a node may be silent before it counts as lost; at least 8s")
	fl.DurationVar(&f.opts.Timeout, "timeout", 2*time.Minute, "how long the start may take")
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		f.opts.Dir, err = filepath.Abs(*dir)
		return err
	}
	return c
}

// options checks everything that can be checked before a process is started.
func (f *upFlags) options(warn func(string)) error {
	errs := []error{controlplane.ParseGates(f.opts.FeatureGates)}
	if f.detach && f.lifeline {
		errs = append(errs, errors.New("--detach and --lifeline exclude each other"))
	}
	if f.opts.NodeGrace < 8*time.Second {
		errs = append(errs, fmt.Errorf("--node-grace %s: at least 8s, since nodes renew their leases four times in that time and a busy machine is late", f.opts.NodeGrace))
	}
	file := nodefile.Default()
	if f.nodes != "" {
		var err error
		if file, err = nodefile.Read(f.nodes); err != nil {
			errs = append(errs, err)
			return input(errors.Join(errs...))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return input(err)
	}
	nodes, err := placeReal(file, f.requireReal, warn)
	f.opts.Nodes = nodes
	return err
}

// placeReal checks the real nodes against the machine; where it can't run any, process nodes take
// their place.
func placeReal(file *nodefile.File, require bool, warn func(string)) ([]nodefile.Node, error) {
	nodes := file.Nodes()
	var real []int
	var errs []error
	for i, n := range nodes {
		if n.Kind == nodefile.Real {
			real = append(real, i)
			errs = append(errs, realnode.CheckCapacity(n))
		}
	}
	if len(real) == 0 {
		return nodes, nil
	}
	if len(real) > instance.MaxRealNodes() {
		return nil, input(fmt.Errorf("%d real nodes; a devplane has at most %d", len(real), instance.MaxRealNodes()))
	}
	why := realnode.Check()
	if why == nil {
		return nodes, input(errors.Join(errs...))
	}
	if require {
		return nil, why
	}
	warn(fmt.Sprintf("%v; process nodes take their place", why))
	for _, i := range real {
		nodes[i].Kind = nodefile.Process
	}
	return nodes, nil
}

func up(f upFlags) error {
	say := func(s string) { fmt.Fprintln(os.Stderr, "devplane:", s) }
	if err := f.options(say); err != nil {
		return err
	}
	if f.detach {
		return detach(f, say)
	}
	// fd 3 is where a detaching parent listens.
	var parent io.Writer
	if os.Getenv(reportKey) != "" {
		parent = os.NewFile(3, "parent")
	}
	return guard(f, say, parent)
}

// reportKey in the environment says that file descriptor 3 wants the reports of the start.
const reportKey = "DEVPLANE_REPORT"

// report is a line that a child tells its parent while it starts.
type report struct {
	Say   string             `json:"say,omitempty"`
	Fail  string             `json:"fail,omitempty"`
	Ready *instance.Instance `json:"ready,omitempty"`
	Dir   string             `json:"dir,omitempty"`
}

// readReports yields reports with the lines they came in, until the writer is gone.
func readReports(from io.Reader) iter.Seq2[[]byte, report] {
	return func(yield func([]byte, report) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r report
			if json.Unmarshal(lines.Bytes(), &r) == nil && !yield(lines.Bytes(), r) {
				return
			}
		}
	}
}

// guard starts the supervisor, passes signals on, and cleans up behind it.
func guard(f upFlags, say func(string), parent io.Writer) error {
	if err := proc.BecomeSubreaper(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if err := plane.SweepDead(f.opts.Dir); err != nil {
		return err
	}
	supervisor, reports, pulse, err := startSupervisor(f.opts)
	if err != nil {
		return err
	}
	defer pulse.Close()
	lifeline := make(chan struct{})
	if f.lifeline {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(lifeline)
		}()
	}
	failed := make(chan string, 1)
	go func() { failed <- follow(reports, say, parent) }()
	for asked := 0; ; {
		select {
		case <-supervisor.Done():
			return f.farewell(supervisor.Err(), <-failed)
		case <-signals:
			asked++
		case <-lifeline:
			lifeline = nil
			if asked > 0 {
				continue // no second request: Ctrl-C reaches the one at the other end, too
			}
			asked = 1
		}
		if asked == 1 {
			say("stopping")
			_ = supervisor.Signal(syscall.SIGTERM)
		} else {
			_ = supervisor.Signal(syscall.SIGKILL)
		}
	}
}

// startSupervisor starts the supervisor with its options on file descriptor 3, reports on 4 and
// the guard's pulse on 5. The pulse that is returned closes when this process dies, and then the
// supervisor ends; the caller keeps it.
func startSupervisor(opts plane.Options) (p *proc.Process, reports io.Reader, pulse io.Closer, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	optsR, optsW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	reportsR, reportsW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	pulseR, pulseW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	p, err = proc.StartDetached(proc.Spec{Path: self, Args: []string{"supervise"}, Env: os.Environ(), Out: os.Stderr,
		Files: []*os.File{optsR, reportsW, pulseR}})
	for _, file := range []*os.File{optsR, reportsW, pulseR} {
		file.Close()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	err = json.NewEncoder(optsW).Encode(opts)
	return p, reportsR, pulseW, errors.Join(err, optsW.Close())
}

// follow prints reports and hands them on until the supervisor closes them. It returns why the
// supervisor failed, if it said so.
func follow(reports io.Reader, say func(string), parent io.Writer) (failed string) {
	for line, r := range readReports(reports) {
		if parent != nil {
			fmt.Fprintf(parent, "%s\n", line)
		}
		switch {
		case r.Say != "":
			say(r.Say)
		case r.Fail != "":
			failed = r.Fail
		case r.Ready != nil && parent == nil:
			r.Ready.Dir = r.Dir
			fmt.Fprintln(stdout, r.Ready.Kubeconfig())
		}
	}
	return failed
}

// farewell cleans up behind a supervisor that has ended. One that ended in order has left
// nothing, and then this finds nothing.
func (f upFlags) farewell(ended error, failed string) error {
	proc.KillDescendants()
	err := plane.SweepDead(f.opts.Dir)
	if failed != "" {
		return failure{exitInfrastructure, errors.Join(errors.New(failed), err)}
	}
	if ended != nil {
		return failure{exitInfrastructure, errors.Join(fmt.Errorf("the supervisor ended: %w", ended), err)}
	}
	return err
}

// detach starts the guard in a session of its own and returns when it reports ready.
func detach(f upFlags, say func(string)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	logs := filepath.Join(f.opts.Dir, "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(logs, "devplane.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	reportsR, reportsW, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, f.args()...)
	cmd.Env = append(os.Environ(), reportKey+"=1")
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{reportsW}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	reportsW.Close()
	for _, r := range readReports(reportsR) {
		switch {
		case r.Say != "":
			say(r.Say)
		case r.Fail != "":
			_ = cmd.Wait()
			return failure{exitInfrastructure, errors.New(r.Fail)}
		case r.Ready != nil:
			r.Ready.Dir = r.Dir
			fmt.Fprintln(stdout, r.Ready.Kubeconfig())
			return nil
		}
	}
	return failure{exitInfrastructure, fmt.Errorf("devplane did not come up (%v); see %s", cmd.Wait(), log.Name())}
}

// args are the flags for the detached guard.
func (f upFlags) args() []string {
	args := []string{"up", "--dir", f.opts.Dir, "--node-grace", f.opts.NodeGrace.String(), "--timeout", f.opts.Timeout.String()}
	if f.nodes != "" {
		args = append(args, "--nodes", f.nodes)
	}
	if f.opts.FeatureGates != "" {
		args = append(args, "--feature-gates", f.opts.FeatureGates)
	}
	if f.requireReal {
		args = append(args, "--require-real")
	}
	return args
}
