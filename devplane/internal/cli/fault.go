package cli

import (
	"errors"
	"fmt"

	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/spf13/cobra"
)

func faultCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fault KIND",
		Short: "Break a part of a running cluster",
		Long: "fault breaks a part as the world would. PART is a name that `devplane status` shows, a short name\n" +
			"(apiserver, etcd, scheduler, controller-manager) or node/NAME.",
		Example: "  devplane fault kill apiserver\n" +
			"  devplane fault kill node/general-0 --hold\n" +
			"  devplane fault start node/general-0\n" +
			"  devplane fault pause apiserver --for 10s\n" +
			"  devplane fault compact",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return input(fmt.Errorf("unknown fault %q; known are kill, start, pause, resume, compact", args[0]))
			}
			return c.Help()
		},
	}
	c.AddCommand(
		faultKind("kill PART", "Kill a part with SIGKILL and start it again", true),
		faultKind("start PART", "Start a part that was killed with --hold", false),
		faultKind("pause PART", "Stop a part with SIGSTOP, so that its connections hang, and resume it", true),
		faultKind("resume PART", "Let a part that was paused with --hold go on", false),
		faultKind("compact", "Compact etcd and restart the API server: older watches get 410 Gone", false),
	)
	return c
}

func faultKind(use, short string, timed bool) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Example: "  devplane fault " + exampleOf(use)}
	dir := dirFlag(c)
	var f plane.Fault
	if timed {
		c.Flags().DurationVar(&f.For, "for", 0, "how long before it is undone; the command does not wait for that")
		c.Flags().BoolVar(&f.Hold, "hold", false, "leave it so until `start` or `resume`")
	}
	want := 1
	if use == "compact" {
		want = 0
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != want {
			return input(fmt.Errorf("usage: devplane fault %s", use))
		}
		if f.Hold && f.For != 0 {
			return input(errors.New("--for and --hold exclude each other"))
		}
		f.Kind = c.Name()
		if want == 1 {
			f.Part = args[0]
		}
		in, err := find(*dir)
		if err != nil {
			return err
		}
		err = plane.AskFault(in, f)
		if bad := (plane.InputError{}); errors.As(err, &bad) {
			return input(err)
		}
		return err
	}
	return c
}

func exampleOf(use string) string {
	switch use {
	case "kill PART":
		return "kill apiserver --for 5s"
	case "start PART":
		return "start node/general-0"
	case "pause PART":
		return "pause etcd --for 10s"
	case "resume PART":
		return "resume etcd"
	}
	return use
}
