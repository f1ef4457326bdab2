package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/kubeclient"
	"github.com/berthdev/berth/internal/placement/profile"
)

// checkFlags is the command line of check.
type checkFlags struct {
	operator, nodes                string
	kubeconfig, context, namespace string
	profiles                       []string
	output                         string
}

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say which nodes each placement profile can land on, and what stops it on the others",
		Long: `Say for each placement profile, and for the baseline alone, which nodes its pods can land on, and
which taints and labels stop them on the others. A profile that fits no node is a warning, unless the
operator file says that it may_be_empty. What else runs on the nodes is not looked at.

It asks the cluster of your kubeconfig, as you, and has the API server try a sample pod of each
profile without storing it (a dry run): fields that it refuses, or leaves out without a word, are
errors; what it changes is noted. The nodes are those for the pod as it would be stored. You need
the rights to list nodes, and to create pods in the namespace.

With --nodes it asks no cluster. The file, or - for standard input, is what "kubectl get nodes -o yaml"
or "-o json" prints, or a list of pools written by hand:

    version: 1
    pools:
      - name: gpu             # nodes gpu-0 and gpu-1
        count: 2              # 1 if absent; 0: scaled to zero
        labels: {kubernetes.io/arch: amd64, node-group: gpu}
        taints: [{key: workload-type, value: batch, effect: NoSchedule}]
        capacity: {cpu: "32", memory: 128Gi, nvidia.com/gpu: "4"}

Labels that every node has are added: kubernetes.io/hostname, and kubernetes.io/os, which is linux
unless the pool says otherwise. Of cpu, memory, ephemeral-storage and pods a node has enough where the
pool does not say; it has only those other resources that capacity names. devplane's node file is such
a list; its kind becomes the label devplane.berth.dev/kind, and its run_for says nothing about
placement.

Exit codes: 0; 1 a profile fits no node, or its sample pod is refused or loses a field; 2 the operator
file, the node file or a flag is invalid; 4 the cluster does not answer, or you lack a right.`,
		Example: `  berth check --operator operator.yaml
  berth check --operator operator.yaml --nodes nodes.yaml
  kubectl get nodes -o json | berth check --operator operator.yaml --nodes -
  berth check --profiles arm64,critical -o json`,
		Args: noArgs,
	}
	f := &checkFlags{}
	operator := addOperator(cmd)
	cmd.Flags().StringVar(&f.nodes, "nodes", "", "file with the nodes, instead of a cluster")
	cmd.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default as kubectl has it)")
	cmd.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig (default its current one)")
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace for the dry runs (default the context's)")
	cmd.Flags().StringArrayVar(&f.profiles, "profiles", nil, "check these profiles together, as a step that lists NAME,NAME has them; may be given several times")
	output := addFormat(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.operator, f.output = *operator, output.value
		return check(cmd, *f)
	}
	return cmd
}

func check(cmd *cobra.Command, f checkFlags) error {
	if err := f.exclusive(cmd); err != nil {
		return err
	}
	in := newInputs(cmd)
	operator, findings, err := in.operator(f.operator, "there is no baseline and there are no profiles")
	if err != nil {
		return err
	}
	report := &checked{Profiles: []checkedProfile{}, Findings: findings}
	if operator == nil {
		return report.print(cmd, in, f.output, exitInvalid)
	}
	asked, err := combinations(cmd, operator, f.profiles)
	if err != nil {
		return err
	}
	c := checker{operator: operator, where: newPositions(operator, in.sources[operator.Name]), progress: newProgress(cmd.ErrOrStderr())}
	defer c.progress.end()
	if f.nodes != "" {
		found, err := c.readNodes(in, f.nodes)
		if err != nil {
			return err
		}
		if report.Findings.Join(found); found.HasErrors() {
			return report.print(cmd, in, f.output, exitInvalid)
		}
	} else if err := c.ask(cmd.Context(), f); err != nil {
		return err
	}
	code := exitOK
	for _, names := range asked {
		p, err := c.profile(cmd.Context(), names)
		if err != nil {
			return &codeError{exitNoService, err}
		}
		report.Profiles = append(report.Profiles, p)
		report.Findings.Join(p.Findings)
		code = max(code, p.code())
	}
	report.Findings.Join(c.unready())
	report.nodes, report.namespace = len(c.nodes.there), c.namespace()
	c.progress.end()
	return report.print(cmd, in, f.output, code)
}

// exclusive refuses flags of a cluster beside --nodes, which asks none.
func (f checkFlags) exclusive(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("nodes") {
		return nil
	}
	if f.nodes == "" {
		return usageErrorf(cmd, "--nodes names no file")
	}
	for _, name := range []string{"kubeconfig", "context", "namespace"} {
		if cmd.Flags().Changed(name) {
			return usageErrorf(cmd, "--%s beside --nodes, which asks no cluster: leave one of them out", name)
		}
	}
	return nil
}

// combinations gives the lists of profiles to check: those that the flag names, or else the baseline alone
// and each profile.
func combinations(cmd *cobra.Command, operator *profile.File, flags []string) ([][]string, error) {
	if len(flags) == 0 {
		all := [][]string{nil}
		for _, p := range operator.Profiles {
			all = append(all, []string{p.Name})
		}
		return all, nil
	}
	var all [][]string
	known := operator.ProfileNames()
	for _, flag := range flags {
		var names []string
		for name := range strings.SplitSeq(flag, ",") {
			name = strings.TrimSpace(name)
			switch {
			case name == "":
				return nil, usageErrorf(cmd, "--profiles %q: a name is missing", flag)
			case slices.Contains(names, name):
				return nil, usageErrorf(cmd, "--profiles %q names %s twice", flag, name)
			case !slices.Contains(known, name):
				return nil, usageErrorf(cmd, "--profiles: there is no profile %q: %s", name, finding.DidYouMean(name, known, "the operator file has "+finding.Either(known)))
			}
			names = append(names, name)
		}
		all = append(all, names)
	}
	return all, nil
}

// ask gets the nodes from a cluster.
func (c *checker) ask(ctx context.Context, f checkFlags) error {
	client, err := kubeclient.New(kubeclient.Options{Kubeconfig: f.kubeconfig, Context: f.context, Namespace: f.namespace,
		Version: buildVersion()})
	if err != nil {
		return &codeError{exitNoService, err}
	}
	c.progress.say("listing nodes")
	nodes, err := client.Nodes(ctx)
	if apierrors.IsForbidden(err) {
		return &codeError{exitNoService, lacking(err, "list nodes", "kubectl create clusterrole list-nodes --verb=list --resource=nodes")}
	}
	if err != nil {
		return &codeError{exitNoService, err}
	}
	c.client, c.nodes.there = client, nodes
	return nil
}

// lacking says which right is missing, how it is granted, and how to do without.
func lacking(err error, right, grant string) error {
	message := err.Error()
	var known *kubeclient.Error
	if errors.As(err, &known) {
		message = known.Message
	}
	return fmt.Errorf(`%s
You need the right to %s, which a cluster's administrator grants with
    %s
and a binding of it to you. Without it, check against a file of nodes: berth check --nodes FILE`, message, right, grant)
}
