package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/kubeclient/kubeconfig"
	"github.com/berthdev/berth/internal/kubeclient/watcher"
	"github.com/berthdev/berth/internal/observer"
	"github.com/berthdev/berth/internal/observer/wire"
)

// runFlags are those of the program without a command.
type runFlags struct {
	config     string
	once       bool
	timeout    time.Duration
	spool      string
	push       string
	tokenFile  string
	listen     string
	namespaces []string
	kubeconfig string
	context    string
	paged      bool
}

func newRun() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "berth-observer",
		Short: "Say what runs in a cluster, on which machines, and what forbids others",
		Long: `Watch a cluster and write what was asked for, which machines answered, and what forbids a different
answer: as JSON payloads into a folder (--spool), to a receiver (--push), and as metrics (--listen).

It needs list and watch of pods and nodes, and of the metadata of their owners and of namespaces, and has no
use for any other right. What it can't read it does without, and says so in the payload coverage.

Flags win over the configuration file.

Exit codes: 0; 2 a file or a flag is invalid; 4 no cluster, or a payload can't be written.`,
		Example: `  berth-observer --once                         one payload of each kind to standard output
  berth-observer --spool /var/lib/berth-observer --listen :9090
  berth-observer preview -f pods.json           what would be said of what kubectl get -o json printed
  berth-observer explain-record /var/lib/berth-observer/workload_metadata.json`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.config, "config", "", "configuration file")
	flags.BoolVar(&f.once, "once", false, "write one payload of each kind, to standard output or the spool, and end")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long --once may take")
	flags.StringVar(&f.spool, "spool", "", "folder that payloads are written to")
	flags.StringVar(&f.push, "push", "", "URL that payloads are posted to, from the spool")
	flags.StringVar(&f.tokenFile, "push-token-file", "", "file with the bearer token for --push")
	flags.StringVar(&f.listen, "listen", "", "address of /metrics, /healthz and /readyz, such as :9090")
	flags.StringArrayVarP(&f.namespaces, "namespace", "n", nil, "watch this namespace, with rights in it, and not the cluster; may be given several times")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default as kubectl has it; in a pod, its service account)")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig (default its current one)")
	flags.BoolVar(&f.paged, "paged", false, "list in pages, as where the API server can't stream lists")
	_ = flags.MarkHidden("paged")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return run(cmd, f) }
	return cmd
}

func run(cmd *cobra.Command, f *runFlags) error {
	s, reload, err := f.settings(cmd)
	if err != nil {
		return err
	}
	if f.once && (f.push != "" || f.listen != "") {
		return invalid(errors.New("--push and --listen have no effect with --once: it writes its payloads and ends"))
	}
	if f.once && (s.Push.URL != "" || s.Metrics.Listen != "") {
		fmt.Fprintln(cmd.ErrOrStderr(), "berth-observer: push and metrics of the configuration have no effect with --once")
	}
	if !f.once && s.Spool.Dir == "" && s.Metrics.Listen == "" {
		return invalid(errors.New("nothing to do: give --once, --spool DIR or --listen ADDRESS"))
	}
	calm := eager()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	clients, err := watcher.New(kubeconfig.Options{Kubeconfig: f.kubeconfig, Context: f.context, Program: "berth-observer", Version: buildVersion()}, wire.Codecs())
	if err != nil {
		return &codeError{exitNoService, err}
	}
	o, err := observer.New(observer.Options{Clients: clients, Settings: s, Version: buildVersion(), Log: log, Reload: reload, Settled: calm, Paged: f.paged})
	if err != nil {
		return &codeError{exitNoService, err}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if f.once {
		return once(ctx, cmd, o, f.timeout)
	}
	if s.Metrics.Listen != "" {
		l, err := net.Listen("tcp", s.Metrics.Listen)
		if err != nil {
			return &codeError{exitNoService, err}
		}
		served := make(chan error, 1)
		go func() {
			served <- o.Serve(ctx, l)
			stop()
		}()
		defer func() {
			stop()
			if err := <-served; err != nil {
				log.Error("the HTTP server ended", "why", err)
			}
		}()
	}
	o.Run(ctx)
	return nil
}

// eager lets memory grow further than usual until the cluster was seen once: what is decoded then is garbage at once,
// and collecting it seldom costs less. calm is for the time after, in which little happens.
func eager() (calm func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	usual := debug.SetGCPercent(200)
	return func() {
		debug.SetGCPercent(usual)
		debug.FreeOSMemory()
	}
}

func once(ctx context.Context, cmd *cobra.Command, o *observer.Observer, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not all was seen within %s", timeout))
	defer cancel()
	if err := o.Once(ctx, cmd.OutOrStdout()); err != nil {
		return &codeError{exitNoService, err}
	}
	for _, s := range o.Sources() {
		if s.Resource == "pods" && s.Failing == v1.FailingForbidden {
			return &codeError{exitNoService, errors.New("no right to list pods: there is nothing to say\nGive the user what charts/berth-observer gives its service account")}
		}
	}
	return nil
}

func invalid(err error) error { return &codeError{exitInvalid, err} }
