package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/kubeclient"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/source"
)

// checker holds profiles against nodes.
type checker struct {
	operator *profile.File
	where    positions
	progress *progress
	nodes    inventory
	client   *kubeclient.Client // nil if no cluster is asked
}

// checkedProfile is what there is to say of a profile, of several together, or of the baseline alone.
type checkedProfile struct {
	Name       string       `json:"name"`     // empty for the baseline alone; of several, NAME,NAME
	Profiles   []string     `json:"profiles"` // in the order in which a step lists them
	Baseline   bool         `json:"baseline"` // alone
	Nodes      []string     `json:"nodes"`    // that it can land on
	Blocked    []blocked    `json:"blocked"`  // all other nodes; the largest group first
	EmptyPools []string     `json:"empty_pools"`
	DryRun     *dryRun      `json:"dry_run"` // null if no cluster is asked
	Findings   finding.List `json:"findings"`

	mayBeEmpty bool
}

// blocked is nodes that are closed for the same reasons.
type blocked struct {
	Nodes   []string `json:"nodes"`
	Reasons []why    `json:"reasons"`
}

type why struct {
	Kind fit.Kind `json:"kind"`
	Text string   `json:"text"`
	Key  string   `json:"key"` // of the taint or label, or the resource's name; empty if it is about none or several
}

// profile checks a step that lists the names, or the baseline alone. The error is that of a cluster which
// gives no answer.
func (c *checker) profile(ctx context.Context, names []string) (checkedProfile, error) {
	c.progress.say("checking %s", subject(names))
	step, findings := plan.Sample(c.operator, names)
	p := checkedProfile{Name: strings.Join(names, ","), Profiles: append([]string{}, names...), Baseline: len(names) == 0,
		Nodes: []string{}, Blocked: []blocked{}, EmptyPools: []string{}, Findings: findings}
	p.mayBeEmpty = slices.ContainsFunc(c.operator.ProfilesFor(names), func(p *profile.Profile) bool { return p.MayBeEmpty }) && !p.Baseline
	pod, err := podspec.Pod(&step, podspec.Facts{Namespace: c.namespace(), Instance: noRun, Run: noRun, Attempt: 1, Fence: 1, Preview: true})
	if err != nil {
		return p, err
	}
	if c.client != nil && !findings.HasErrors() {
		stored, err := c.try(ctx, &p, &step, pod)
		if err != nil {
			return p, err
		}
		if stored != nil {
			pod = stored // which is what the scheduler would see
		}
	}
	spec, err := typedSpec(pod)
	if err != nil {
		p.Findings.Add(c.where.found(names, finding.PodMalformed, finding.Error, "correct what the message names",
			"%s is none to Kubernetes: %s", subject(names), oneLine(err)))
		return p, nil
	}
	p.place(spec, c.nodes)
	if len(p.Nodes) == 0 && !p.mayBeEmpty && !p.Findings.HasErrors() {
		p.Findings.Add(c.fitsNone(names, p.EmptyPools))
	}
	return p, nil
}

// typedSpec is the pod's spec, with requests where there are limits alone, as the API server has it.
func typedSpec(pod map[string]any) (*corev1.PodSpec, error) {
	untyped, _ := pod["spec"].(map[string]any)
	spec := &corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(untyped, spec); err != nil {
		return nil, err
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			requests := maps.Clone(r.Limits)
			if requests != nil {
				maps.Copy(requests, r.Requests)
				r.Requests = requests
			}
		}
	}
	return spec, nil
}

// place finds the nodes that the pod fits, and groups the others.
func (p *checkedProfile) place(spec *corev1.PodSpec, nodes inventory) {
	groups := map[string]int{}
	for i := range nodes.there {
		n := &nodes.there[i]
		reasons := fit.Node(spec, n)
		if len(reasons) == 0 {
			p.Nodes = append(p.Nodes, n.Name)
			continue
		}
		var all []why
		key := ""
		for _, r := range reasons {
			w := why{r.Kind, r.String(), about(r)}
			all, key = append(all, w), key+w.Text+"\n"
		}
		at, known := groups[key]
		if !known {
			at = len(p.Blocked)
			groups[key] = at
			p.Blocked = append(p.Blocked, blocked{Reasons: all})
		}
		p.Blocked[at].Nodes = append(p.Blocked[at].Nodes, n.Name)
	}
	slices.SortStableFunc(p.Blocked, func(a, b blocked) int { return len(b.Nodes) - len(a.Nodes) })
	for i := range nodes.empty {
		if len(fit.Node(spec, &nodes.empty[i])) == 0 {
			p.EmptyPools = append(p.EmptyPools, nodes.empty[i].Name)
		}
	}
}

func about(r fit.Reason) string {
	switch {
	case r.Taint != nil:
		return r.Taint.Key
	case r.Label != nil:
		return r.Label.Key
	case r.Amount != nil:
		return string(r.Amount.Resource)
	default:
		return ""
	}
}

// fitsNone is a warning, except where no step can have the pod: a default profile keeps the baseline from
// ever being alone.
func (c *checker) fitsNone(names, emptyPools []string) finding.Finding {
	severity, fix := finding.Warning, "correct the profile, or write may_be_empty: true if its nodes may be scaled to zero"
	switch d := c.operator.DefaultProfile(); {
	case len(names) > 1:
		fix = "do not list them together, or correct one of them"
	case len(names) == 0 && d == nil:
		fix = "correct the baseline: steps that list no profile can run nowhere"
	case len(names) == 0:
		severity, fix = finding.Note, "nothing need be done: steps that list no profile have the default profile, "+d.Name
	}
	message := fmt.Sprintf("no node can take %s (of %s)", subject(names), plural(len(c.nodes.there), "node"))
	if len(emptyPools) > 0 {
		message += "; scaled up from zero, " + someOf(emptyPools, mostNames) + " could"
	}
	return c.where.found(names, finding.ProfileFitsNoNode, severity, fix, "%s", message)
}

// subject names the pod that is checked.
func subject(names []string) string {
	switch len(names) {
	case 0:
		return "a pod of the baseline alone"
	case 1:
		return "a pod with the profile " + names[0]
	default:
		return "a pod with the profiles " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
}

// code is the exit code that the profile asks for.
func (p *checkedProfile) code() int {
	for _, f := range p.Findings.All() {
		if f.Severity == finding.Error || f.Severity == finding.Warning && f.Code == finding.ProfileFitsNoNode {
			return exitFailed
		}
	}
	return exitOK
}

// unready says which nodes are not ready. That alone stops no pod: the taints do which such a node gets.
func (c *checker) unready() finding.List {
	var names []string
	for _, n := range c.nodes.there {
		if slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
		}) {
			names = append(names, n.Name)
		}
	}
	if len(names) == 0 {
		return finding.List{}
	}
	return finding.Of(finding.Finding{Code: finding.NodeNotReady, Severity: finding.Note,
		Message: fmt.Sprintf("not ready: %s (%d of %s)", someOf(names, 10), len(names), plural(len(c.nodes.there), "node"))})
}

// positions finds profiles in the operator file.
type positions struct {
	operator *profile.File
	root     *source.Node // nil if there is no file
}

func newPositions(operator *profile.File, text string) positions {
	p := positions{operator: operator}
	if operator.Name != "" {
		p.root, _ = source.Parse(operator.Name, []byte(text))
	}
	return p
}

// found is a finding about the last of the profiles, or about the baseline.
func (p positions) found(names []string, code finding.Code, severity finding.Severity, fix, format string, args ...any) finding.Finding {
	at, path := p.root.Key("baseline"), "baseline"
	if len(names) > 0 {
		last := names[len(names)-1]
		at, path = nil, "placement_profiles["+last+"]"
		if list := p.root.Field("placement_profiles"); list != nil {
			for _, item := range list.Items {
				if n := item.Field("name"); n != nil && n.Text == last {
					at = n
				}
			}
		}
	}
	f := at.Found(code, severity, path, fix, format, args...)
	f.File = p.operator.Name
	return f
}
