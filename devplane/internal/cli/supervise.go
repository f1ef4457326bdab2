package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/berthdev/berth/devplane/internal/agent"
	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/volumes"
	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func superviseCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use: "supervise", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return supervisor(version) },
	}
}

// supervisor is the process that `up` starts; see startSupervisor for its file descriptors.
func supervisor(version string) error {
	for fd := 3; fd <= 5; fd++ {
		syscall.CloseOnExec(fd)
	}
	var opts plane.Options
	if err := json.NewDecoder(os.NewFile(3, "options")).Decode(&opts); err != nil {
		return fmt.Errorf("supervise is started by devplane up: %w", err)
	}
	if err := proc.BecomeSubreaper(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stopOn(cancel)

	out, mu := json.NewEncoder(os.NewFile(4, "reports")), sync.Mutex{}
	tell := func(r report) {
		mu.Lock()
		defer mu.Unlock()
		_ = out.Encode(r)
	}
	err := plane.Run(ctx, opts, version,
		func(s string) { tell(report{Say: s}) },
		func(in *instance.Instance) { tell(report{Ready: in, Dir: in.Dir}) })
	if err != nil {
		tell(report{Fail: err.Error()})
		os.Exit(exitInfrastructure) // the guard prints it
	}
	return nil
}

// stopOn ends the supervisor on a signal, or when the guard is gone.
func stopOn(cancel context.CancelCauseFunc) {
	signals := make(chan os.Signal, 4)
	// A reader that is gone must not kill the one that cleans up.
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(plane.ErrStopped)
	}()
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(5, "pulse"))
		cancel(plane.ErrStopped)
	}()
}

// nodes is the part that stands for all process and scale nodes.
func nodes(args []string) int {
	err := func() error {
		if len(args) != 1 {
			return errors.New("nodes takes one argument: its configuration")
		}
		data, err := os.ReadFile(args[0])
		if err != nil {
			return err
		}
		var cfg plane.NodesConfig
		if err := json.Unmarshal(data, &cfg); err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		return runNodes(ctx, cfg)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "devplane:", err)
		return 1
	}
	return 0
}

func runNodes(ctx context.Context, cfg plane.NodesConfig) error {
	rest, err := clientcmd.BuildConfigFromFlags("", cfg.Volumes.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(rest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() {
		p := volumes.Provisioner{Name: controlplane.Provisioner, Dir: cfg.Volumes.Dir, Client: client}
		ended <- p.Run(ctx)
	}()
	go func() { ended <- agent.Run(ctx, cfg.Agent) }()
	first := <-ended // either ends alone only by failing
	cancel()
	return errors.Join(first, <-ended)
}
