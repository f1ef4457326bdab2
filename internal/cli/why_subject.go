package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/finding"
)

// whyKinds are the types that kubectl users write, with what they mean.
var whyKinds = map[string]string{
	"pod": "Pod", "pods": "Pod", "po": "Pod",
	"deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment",
	"statefulset": "StatefulSet", "statefulsets": "StatefulSet", "sts": "StatefulSet",
	"daemonset": "DaemonSet", "daemonsets": "DaemonSet", "ds": "DaemonSet",
	"replicaset": "ReplicaSet", "replicasets": "ReplicaSet", "rs": "ReplicaSet",
	"replicationcontroller": "ReplicationController", "rc": "ReplicationController",
	"job": "Job", "jobs": "Job", "cronjob": "CronJob", "cronjobs": "CronJob", "cj": "CronJob",
	"node": "Node", "nodes": "Node", "no": "Node",
	"run": "run",
}

// parseQuestion reads TYPE/NAME, nodes, or run/RUN step/STEP.
func parseQuestion(cmd *cobra.Command, args []string) (question, error) {
	if len(args) == 0 {
		return question{}, nil
	}
	if args[0] == "nodes" && len(args) == 1 {
		return question{kind: "nodes"}, nil
	}
	written, name, slash := strings.Cut(args[0], "/")
	if !slash || name == "" {
		if len(args) == 2 {
			return question{}, usageErrorf(cmd, "%q: write %s/%s", strings.Join(args, " "), args[0], args[1])
		}
		return question{}, usageErrorf(cmd, "%q: write TYPE/NAME, as in deploy/web", args[0])
	}
	kind, known := whyKinds[strings.ToLower(written)]
	if !known {
		kind = written // of a custom resource, which a pod's owner may be
	}
	q := question{kind: strings.ToLower(kind), name: name, subject: explain.Ref{Kind: kind, Name: name}}
	if q.kind == "run" {
		if len(args) == 2 && strings.HasPrefix(args[1], "step/") || len(args) == 1 {
			return q, nil
		}
		return q, usageErrorf(cmd, "%q: write run/RUN step/STEP", strings.Join(args, " "))
	}
	if len(args) > 1 {
		return q, usageErrorf(cmd, "unexpected argument %q: one thing at a time", args[1])
	}
	return q, nil
}

func (f *whyFlags) nodeSelector(cmd *cobra.Command) (labels.Selector, error) {
	if f.selector == "" {
		return labels.Everything(), nil
	}
	s, err := labels.Parse(f.selector)
	if err != nil {
		return nil, usageErrorf(cmd, "-l %q is no selector: %v", f.selector, err)
	}
	return s, nil
}

// nearby is what to say of a name that is not there.
func nearby(name string, known []string, where string) string {
	switch {
	case len(known) == 0:
		return "there are none" + where
	default:
		return finding.DidYouMean(name, known, "there "+are(len(known))+" "+someOf(known, 8)+where)
	}
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
