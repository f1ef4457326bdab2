package command

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer"
	"github.com/berthdev/berth/internal/observer/manifest"
	"github.com/berthdev/berth/internal/observer/settings"
)

func newPreview() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preview -f FILE...",
		Short: "Say what would be said of the objects in files, without a cluster",
		Long: `Print the payloads that would leave a cluster with the objects in the files, one in each line: for whoever
has to approve that. Files are manifests, or what kubectl get -o json or -o yaml prints; - is standard input.

Pods and nodes are read, and the metadata of namespaces and of what may own pods. Objects of other kinds are
counted and skipped: of a Deployment, the pods are what counts. Without a Namespace in the files all namespaces
are taken to have nothing against being observed.

A key that the API server would ignore or refuse is named, with the nearest that it knows.

Exit codes: 0; 2 a file can't be read.`,
		Example: `  kubectl get pods,nodes,namespaces,rs,deploy,sts,ds,jobs,cronjobs -A -o json | berth-observer preview -f -
  berth-observer preview -f pod.yaml | berth-observer explain-record -`,
	}
	files := cmd.Flags().StringArrayP("filename", "f", nil, "file with objects, or -; may be given several times")
	config := cmd.Flags().String("config", "", "configuration file, for its filters, node labels and bounds")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return preview(cmd, append(*files, args...), *config)
	}
	return cmd
}

func preview(cmd *cobra.Command, files []string, config string) error {
	if len(files) == 0 {
		return invalid(fmt.Errorf("no file: name one with -f FILE, or -f - for standard input"))
	}
	s := settings.Default()
	if config != "" {
		text, err := os.ReadFile(config)
		if err != nil {
			return invalid(err)
		}
		if s, err = load(config, text); err != nil {
			return invalid(err)
		}
	}
	var objects manifest.Objects
	for _, name := range files {
		if err := readFile(cmd, name, &objects); err != nil {
			return invalid(err)
		}
	}
	fmt.Fprint(cmd.ErrOrStderr(), objects.Findings.Text(nil))
	var skipped []string
	for _, kind := range slices.Sorted(maps.Keys(objects.Skipped)) {
		skipped = append(skipped, fmt.Sprintf("%d %s", objects.Skipped[kind], kind))
	}
	if len(skipped) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "berth-observer: skipped %s\n", strings.Join(skipped, ", "))
	}
	if objects.Findings.HasErrors() {
		return &codeError{exitInvalid, nil}
	}
	return observer.Preview(cmd.OutOrStdout(), &objects, s, buildVersion(), time.Now())
}

func readFile(cmd *cobra.Command, name string, into *manifest.Objects) error {
	var r io.Reader = cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	return into.Read(name, r)
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:       "schema " + strings.Join(append(v1.Kinds(), "config"), "|"),
		Short:     "Print the JSON Schema of a payload, or of the configuration file",
		ValidArgs: append(v1.Kinds(), "config"),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			data := v1.JSONSchema(args[0])
			if args[0] == "config" {
				var err error
				if data, err = settings.JSONSchema(); err != nil {
					return err
				}
			}
			_, err := cmd.OutOrStdout().Write(data)
			return err
		},
	}
}
