package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/spf13/cobra"
)

func downCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "down",
		Short:   "Stop a cluster and remove its data",
		Long:    "down stops every part in order and removes processes, mounts, bridges and data. Logs stay.\nIt also cleans up behind a devplane that was killed. Nothing to stop is no error.",
		Example: "  devplane down\n  devplane down --dir /tmp/a",
		Args:    noArgs,
	}
	dir := dirFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		in, err := plane.Find(*dir)
		if err != nil {
			return plane.SweepDead(*dir)
		}
		ctx, cancel := context.WithTimeoutCause(c.Context(), time.Minute, errors.New("gave up after a minute"))
		defer cancel()
		return plane.AskStop(ctx, in)
	}
	return c
}

func kubeconfigCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path of the kubeconfig",
		Example: "  export KUBECONFIG=$(devplane kubeconfig)",
		Args:    noArgs,
	}
	dir := dirFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		in, err := find(*dir)
		if err == nil {
			fmt.Fprintln(stdout, in.Kubeconfig())
		}
		return err
	}
	return c
}

func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show the parts of a running cluster",
		Example: "  devplane status\n  devplane status -o json",
		Args:    noArgs,
	}
	dir, output := dirFlag(c), outputFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		if err := checkOutput(*output); err != nil {
			return err
		}
		in, err := find(*dir)
		if err != nil {
			return err
		}
		s, err := plane.AskStatus(in)
		if err != nil {
			return err
		}
		if *output == "json" {
			e := json.NewEncoder(stdout)
			e.SetIndent("", "  ")
			return e.Encode(s)
		}
		return printStatus(s)
	}
	return c
}

func printStatus(s *plane.Status) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PART\tSTATE\tPID\tAGE\tRESTARTS\tMEMORY")
	for _, p := range s.Parts {
		pid, memory := "-", "-"
		if p.Pid != 0 {
			pid = fmt.Sprint(p.Pid)
		}
		if p.Memory != 0 {
			memory = fmt.Sprintf("%d MiB", p.Memory>>20)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", p.Name, p.State, pid, time.Since(p.Since).Round(time.Second), p.Restarts, memory)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if !s.Ready {
		fmt.Println("\nstill coming up")
	}
	fmt.Printf("\nKubernetes %s, KUBECONFIG=%s\n", s.Instance.Version, s.Kubeconfig)
	return nil
}

func versionCommand(version string) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of Kubernetes", Example: "  devplane version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(stdout, version)
			return err
		},
	}
}
