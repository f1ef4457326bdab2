package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/kubeclient"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/plan"
)

// dryRun is what an API server makes of a profile's sample pod.
type dryRun struct {
	Accepted bool   `json:"accepted"` // it would store all that is sent
	Message  string `json:"message"`  // why not
}

// notStored begins the message of a pod that would be stored without something that was sent.
const notStored = "not stored: "

// namespace is where the sample pods would be; empty if no cluster is asked.
func (c *checker) namespace() string {
	if c.client == nil {
		return ""
	}
	return c.client.Namespace()
}

// try asks the API server to create the pod, and to store nothing. It gives the pod as it would be stored,
// nil if it is refused.
func (c *checker) try(ctx context.Context, p *checkedProfile, step *plan.Step, pod map[string]any) (map[string]any, error) {
	p.DryRun = &dryRun{Accepted: true}
	answer, err := c.client.DryRun(ctx, pod)
	var refused *kubeclient.Refused
	switch {
	case errors.As(err, &refused):
		p.DryRun = &dryRun{Message: oneLine(refused)}
		p.Findings.Add(c.where.found(p.Profiles, finding.PodRefused, finding.Error, "correct what the API server names",
			"the API server refuses %s: %s", subject(p.Profiles), oneLine(refused)))
		return nil, nil
	case apierrors.IsForbidden(err):
		right := "create pods in the namespace " + c.namespace()
		return nil, lacking(err, right, "kubectl create role create-pods --namespace "+c.namespace()+" --verb=create --resource=pods")
	case err != nil:
		return nil, err
	}
	var dropped []string
	for _, d := range podspec.Dropped(pod, answer.Pod) {
		if d.Missing {
			dropped = append(dropped, d.Path.String())
		}
		p.Findings.Add(c.difference(step, d))
	}
	if len(dropped) > 0 {
		p.DryRun = &dryRun{Message: notStored + strings.Join(dropped, ", ")}
	}
	for _, w := range answer.Warnings {
		p.Findings.Add(c.where.found(p.Profiles, finding.ClusterWarning, finding.Note, "", "the API server warns: %s", w))
	}
	return answer.Pod, nil
}

// difference is about whoever set the field.
func (c *checker) difference(step *plan.Step, d podspec.Difference) finding.Finding {
	path := d.Path[1:] // in the fragment, which has labels and annotations beside the fields of spec
	layer := layerOf(step.Pod.Origins, path)
	f := finding.Finding{Code: finding.FieldChanged, Severity: finding.Note, Path: d.Path.String(),
		Message: fmt.Sprintf("the cluster stores %s as %s; %s sets %s", d.Path, shortJSON(d.Stored), owner(layer), shortJSON(d.Sent))}
	if d.Missing {
		f.Code, f.Severity = finding.FieldDropped, finding.Error
		f.Message = fmt.Sprintf("the API server accepts %s and does not store it; %s sets %s", d.Path, owner(layer), shortJSON(d.Sent))
		f.Fix = "leave it out, or switch on its feature gate in the cluster"
	}
	f.File, f.Line, f.Column = c.locate(layer, path)
	return f
}

// layerOf gives the layer that set the path, or something in it, or else what it is in.
func layerOf(origins []placement.Origin, path placement.Path) string {
	layer := ""
	for _, o := range origins {
		last := o.Layers[len(o.Layers)-1]
		if path.Covers(o.Path) {
			return last
		}
		if o.Path.Covers(path) {
			layer = last // origins are in order: a later one is nearer
		}
	}
	return layer
}

func owner(layer string) string {
	if name, ok := strings.CutPrefix(layer, placement.Profile.String()+":"); ok {
		return "profile " + name
	}
	if layer == placement.Baseline.String() {
		return "the baseline"
	}
	return "Berth"
}

// locate is where the operator file says it; nowhere if Berth does.
func (c *checker) locate(layer string, path placement.Path) (file string, line, column int) {
	if layer == placement.Baseline.String() {
		b := c.operator.Baseline
		if b.Resources != nil && placement.MustPath("containers[step].resources").Covers(path) {
			return b.Resources.Locate(path)
		}
		return b.K8s.Locate(path)
	}
	name, _ := strings.CutPrefix(layer, placement.Profile.String()+":")
	if p := c.operator.Profile(name); p != nil {
		return p.K8s.Locate(path)
	}
	return "", 0, 0
}
