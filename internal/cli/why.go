package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/explain"
)

// whyFlags are those of berth why.
type whyFlags struct {
	target     target
	all        bool
	files      []string
	selector   string
	pending    bool
	summary    bool
	allReasons bool
	dump       string
	state      string
	output     *format
}

func newWhy() *cobra.Command {
	f := &whyFlags{}
	cmd := &cobra.Command{
		Use:   "why [TYPE/NAME | nodes | run/RUN step/STEP]",
		Short: "Say why a workload is where it is, what stops it from moving, and what would help",
		Long: `Say why a workload is where it is, what stops it from moving, and what would change if one rule were
gone; for a pod that waits, why it waits. It reads with the rights of whoever asks and installs nothing.
What they may not read is named under "not known", and never counts as free.

  TYPE/NAME           a workload (deploy/web, sts/db, ds/log, job/x, cronjob/x) or a pod (pod/web-7d4-x2)
  node/NAME           why the node can't be emptied: each pod, each reason, and whether the others could take it
  nodes [-l SELECTOR] the fleet: what holds each node, and the smallest sets of rules that would free most
  --pending           every pod that waits, grouped by cause
  --summary           what holds nodes, ranked by the nearly empty ones that it holds
  run/RUN step/STEP   why a step of a Berth run waits, from the state folder

With -f no cluster is asked: it takes manifests, what kubectl prints (-o json, -o yaml), folders of these and
files that --dump has written. Whether a pod fits a node is decided as kube-scheduler does.

Exit codes: 0; 1 there is no such thing; 2 bad input; 4 no cluster, or no right to read the subject.`,
		Example: `  berth why -A --pending
  berth why deploy/web -n shop
  berth why node/ip-10-0-1-7
  berth why nodes -l pool=big
  kubectl get pods,nodes,pdb -A -o json | berth why -A --summary -f -
  berth why -A --summary --dump cluster.json      # and elsewhere: berth why deploy/web -f cluster.json`,
		ValidArgs: []string{"nodes"},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.target.Namespace, "namespace", "n", "", "namespace of the subject (default the context's)")
	flags.BoolVarP(&f.all, "all-namespaces", "A", false, "all namespaces, for --pending and --summary")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "read objects from a file, a folder or - instead of a cluster; may be repeated")
	flags.StringVarP(&f.selector, "selector", "l", "", "labels of the nodes that are meant, with nodes and --summary")
	flags.BoolVar(&f.pending, "pending", false, "every pod that waits, grouped by cause")
	flags.BoolVar(&f.summary, "summary", false, "what holds nodes, ranked by the nearly empty ones that it holds")
	flags.BoolVar(&f.allReasons, "all-reasons", false, "show all nodes and all reasons in the table, as the other formats do")
	flags.StringVar(&f.dump, "dump", "", "write what was read to a file, without env, args, commands, names of Secrets, and annotations that do not count")
	flags.StringVar(&f.target.Kubeconfig, "kubeconfig", "", "kubeconfig file (default as kubectl has it)")
	flags.StringVar(&f.target.Context, "context", "", "context of the kubeconfig (default its current one)")
	f.output = addFormat(cmd, "table", "json", "yaml", "csv", "html")
	state := addState(cmd)
	cmd.Args = func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.state = *state
		return f.run(cmd, args)
	}
	return cmd
}

// question is what is asked.
type question struct {
	kind    string // as written, without its name
	name    string
	subject explain.Ref // of a workload, pod or node; its namespace may still be open
}

// check says whether the command line asks one thing.
func (f *whyFlags) check(cmd *cobra.Command, args []string) error {
	asks := 0
	for _, is := range []bool{f.pending, f.summary, len(args) > 0} {
		if is {
			asks++
		}
	}
	switch {
	case asks == 0 && f.dump != "":
		return nil
	case asks == 0:
		return usageErrorf(cmd, "say what it is about: TYPE/NAME, nodes, --pending or --summary")
	case asks > 1:
		return usageErrorf(cmd, "ask one thing at a time: TYPE/NAME, nodes, --pending or --summary")
	case len(f.files) > 0 && (f.target.Kubeconfig != "" || f.target.Context != ""):
		return usageErrorf(cmd, "with -f no cluster is asked: leave out --kubeconfig and --context")
	case f.all && f.target.Namespace != "":
		return usageErrorf(cmd, "-A and -n exclude each other")
	case f.selector != "" && !f.summary && (len(args) == 0 || args[0] != "nodes"):
		return usageErrorf(cmd, "-l is for nodes and --summary")
	case f.all && len(args) > 0 && args[0] != "nodes":
		return usageErrorf(cmd, "-A is for --pending and --summary: a workload is in one namespace, which -n names")
	}
	_, err := parseQuestion(cmd, args)
	return err
}

func (f *whyFlags) run(cmd *cobra.Command, args []string) error {
	q, err := parseQuestion(cmd, args)
	if err != nil {
		return err
	}
	if q.kind == "run" {
		return f.explainStep(cmd, q, args)
	}
	c, err := f.read(cmd, &q)
	if err != nil || c == nil {
		return err
	}
	return f.explain(cmd, c, q)
}

// explain gives the answer in the form that is asked for.
func (f *whyFlags) explain(cmd *cobra.Command, c *explain.Cluster, q question) error {
	selector, err := f.nodeSelector(cmd)
	if err != nil {
		return err
	}
	switch {
	case f.pending:
		namespace := q.subject.Namespace
		if f.all {
			namespace = ""
		}
		return f.print(cmd, pendingView{c.Pending(namespace), namespace})
	case f.summary, q.kind == "nodes":
		return f.print(cmd, fleetView{fleetOf(c, selector), f.summary})
	case q.subject.Kind == "Node":
		r, ok := c.Node(q.subject.Name)
		if !ok {
			return f.notFound(cmd, c, q)
		}
		return f.print(cmd, nodeView{r})
	}
	r, ok := c.Workload(q.subject)
	if !ok {
		return f.notFound(cmd, c, q)
	}
	return f.print(cmd, workloadView{r})
}

// notFound names what is there.
func (f *whyFlags) notFound(cmd *cobra.Command, c *explain.Cluster, q question) error {
	names, where := c.Known(q.subject)
	message := fmt.Sprintf("there is no %s", q.subject)
	return &codeError{exitFailed, fmt.Errorf("%s: %s", message, nearby(q.subject.Name, names, where))}
}
