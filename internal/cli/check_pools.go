package cli

import (
	"fmt"
	"maps"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// mostNodes is how many nodes the pools of a file may have together.
const mostNodes = 20_000

// poolFile is nodes as people write them. devplane's node file is one.
type poolFile struct {
	Version int        `yaml:"version,required"`
	Pools   []nodePool `yaml:"pools,required"`
}

// Hints says what a list of another kind is to be written as.
func (poolFile) Hints() map[string]string {
	printed := "what kubectl prints begins with apiVersion: v1; by hand, write version: 1 and pools"
	return map[string]string{"kind": printed, "items": printed, "metadata": printed, "spec": printed, "status": printed,
		"nodes": "write pools: a list of pools, each with name, count, labels and taints"}
}

type nodePool struct {
	Name     string                  `yaml:"name,required"`
	Count    *int                    `yaml:"count"`
	Labels   map[string]string       `yaml:"labels"`
	Taints   []nodeTaint             `yaml:"taints"`
	Capacity map[string]*source.Node `yaml:"capacity"`
	Kind     poolKind                `yaml:"kind"`
	RunFor   source.Duration         `yaml:"run_for"` // how long pods run on devplane's scale nodes
}

// Hints says how a pool says what others say otherwise.
func (nodePool) Hints() map[string]string {
	label := "write it under labels"
	return map[string]string{"allocatable": "write capacity", "resources": "write capacity", "replicas": "write count", "size": "write count",
		"cpu": "write it under capacity", "memory": "write it under capacity", "pods": "write it under capacity",
		"arch": "write labels: {kubernetes.io/arch: ...}", "os": "write labels: {kubernetes.io/os: ...}",
		"kubernetes.io/arch": label, "kubernetes.io/os": label, "node-group": label}
}

type nodeTaint struct {
	Key    string      `yaml:"key,required"`
	Value  string      `yaml:"value"`
	Effect taintEffect `yaml:"effect,required"`
}

type taintEffect string

// Values are those that Kubernetes has.
func (taintEffect) Values() []string {
	return []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
}

// poolKind is what stands behind a node of devplane's.
type poolKind string

// Values are those that devplane has.
func (poolKind) Values() []string { return []string{"real", "process", "scale"} }

// pools reads nodes that are written by hand. The nodes are not to be used if there are errors.
func pools(file string, text []byte) (inventory, finding.List) {
	root, findings := source.Parse(file, text)
	if root == nil {
		return inventory{}, findings
	}
	var doc poolFile
	findings.Join(source.Decode(root, &doc))
	if v := root.Field("version"); v != nil && v.Kind == source.Int && doc.Version != 1 {
		findings.Add(v.Fault(finding.ValueUnknown, "version", "write version: 1", "version is %s, and this Berth reads version 1 only", v.Text))
	}
	list := root.Field("pools")
	var out inventory
	lines := map[string]int{}
	left := mostNodes
	for i, p := range doc.Pools {
		r := poolReader{pool: p, at: list.Item(i), path: source.At("pools", i, list.Item(i))}
		r.check()
		if first, twice := lines[p.Name]; twice && p.Name != "" {
			r.fault("name", finding.NameTwice, "choose another name", "the pool %s is there already, in line %d", p.Name, first)
		} else if n := r.at.Field("name"); n != nil {
			lines[p.Name] = n.Line
		}
		count := r.count()
		if count > left {
			r.fault("count", finding.TooLarge, "", "the pools have more than %d nodes, which are the most", mostNodes)
			count = 0
		}
		left -= count
		findings.Add(r.findings...)
		if count == 0 {
			out.empty = append(out.empty, r.node(p.Name))
		}
		for n := range count {
			out.there = append(out.there, r.node(fmt.Sprintf("%s-%d", p.Name, n)))
		}
	}
	return out, findings
}

// poolReader checks a pool, and makes its nodes.
type poolReader struct {
	pool      nodePool
	at        *source.Node
	path      string
	resources corev1.ResourceList // of each node
	findings  []finding.Finding
}

// fault is about a key that the pool has.
func (r *poolReader) fault(key string, code finding.Code, fix, format string, args ...any) {
	r.findings = append(r.findings, r.at.Field(key).Fault(code, source.Join(r.path, key), fix, format, args...))
}

func (r *poolReader) check() {
	if n := r.pool.Name; n != "" {
		const index = len("-20000")
		if err := ident.Label(n, 63-index); err != nil {
			r.fault("name", finding.NameInvalid, "", "the pool's name, %q, %v", n, err)
		}
	}
	for _, f := range r.fields("labels") {
		r.valid(f.Key, "label", validation.IsQualifiedName(f.Name))
		if f.Value.Kind == source.String {
			r.valid(f.Value, "label value", validation.IsValidLabelValue(f.Value.Text))
		}
	}
	for i, t := range r.pool.Taints {
		item := r.at.Field("taints").Item(i)
		if t.Key != "" {
			r.valid(item.Field("key"), "taint key", validation.IsQualifiedName(t.Key))
		}
		r.valid(item.Field("value"), "taint value", validation.IsValidLabelValue(t.Value))
	}
	r.resources = unbounded()
	for _, f := range r.fields("capacity") {
		r.valid(f.Key, "resource", validation.IsQualifiedName(f.Name))
		at := source.Join(r.path, placement.Path{{Name: "capacity"}, {Name: f.Name}}.String())
		q, faults := fragment.Quantity(f.Value, f.Name, at)
		r.findings = append(r.findings, faults...)
		r.resources[corev1.ResourceName(f.Name)] = q
	}
	if _, ok := r.pool.Labels[corev1.LabelArchStable]; !ok && r.pool.Name != "" {
		r.findings = append(r.findings, r.at.Field("name").Found(finding.LabelMissing, finding.Note, r.path+".labels",
			"add "+corev1.LabelArchStable+" to its labels", "the pool %s does not say which architecture its nodes have: to a pod that asks for one they have none", r.pool.Name))
	}
}

func (r *poolReader) fields(key string) []source.Field {
	if n := r.at.Field(key); n != nil {
		return n.Fields
	}
	return nil
}

// valid reports what Kubernetes says of a text. n may be nil.
func (r *poolReader) valid(n *source.Node, what string, problems []string) {
	if n != nil && len(problems) > 0 {
		r.findings = append(r.findings, n.Fault(finding.ValueInvalid, r.path, "", "%s %q: %s", what, n.Text, strings.Join(problems, "; ")))
	}
}

// count is 1 if it is not said, and 0 if it can't be.
func (r *poolReader) count() int {
	switch {
	case r.pool.Count == nil && r.at.Field("count") == nil:
		return 1
	case r.pool.Count == nil:
		return 0
	case *r.pool.Count < 0:
		r.fault("count", finding.NumberOutOfRange, "write 0 for a pool that is scaled to zero", "count is %d", *r.pool.Count)
		return 0
	}
	return *r.pool.Count
}

// unbounded is enough of what every node has: what a pool does not say stops nothing.
func unbounded() corev1.ResourceList {
	all := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods} {
		all[name] = *resource.NewQuantity(math.MaxInt64/1000, resource.DecimalSI)
	}
	return all
}

// Labels of devplane's nodes, beside what the file gives them.
const (
	labelDevplaneKind = "devplane.berth.dev/kind"
	labelDevplanePool = "devplane.berth.dev/pool"
)

// node is a node of the pool, with the labels that the node's own programs give it.
func (r *poolReader) node(name string) corev1.Node {
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}
	if r.pool.Kind != "" {
		labels[labelDevplaneKind], labels[labelDevplanePool] = string(r.pool.Kind), r.pool.Name
	}
	maps.Copy(labels, r.pool.Labels)
	// The node lifecycle controller copies these.
	for stable, beta := range map[string]string{corev1.LabelOSStable: "beta.kubernetes.io/os", corev1.LabelArchStable: "beta.kubernetes.io/arch"} {
		if v, ok := labels[stable]; ok {
			labels[beta] = v
		}
	}
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	for _, t := range r.pool.Taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	n.Status.Allocatable = r.resources
	return n
}
