package fit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Kind says what sort of thing stands between a pod and a node.
type Kind string

// Kinds, in the order in which the scheduler looks.
const (
	NodeName     Kind = "node_name"              // spec.nodeName names another node
	Cordoned     Kind = "unschedulable_node"     // spec.unschedulable
	Taint        Kind = "node_taint"             // NoSchedule or NoExecute, and not tolerated
	NodeSelector Kind = "node_selector"          // a label that nodeSelector wants
	NodeAffinity Kind = "node_affinity_required" // no term of the required node affinity matches
	PodCount     Kind = "pod_count"              // the node takes no pods at all
	Resources    Kind = "resources"              // the pod requests more than the node has in all
)

// Reason is one reason why a pod can't run on a node. Which of its fields are set depends on Kind.
type Reason struct {
	Kind  Kind
	Name  string       // NodeName: of the node that the pod is for
	Taint corev1.Taint // Taint
	Label Requirement  // NodeSelector
	Terms []Term       // NodeAffinity: all of the pod's terms, in its order

	// Resources and PodCount.
	Resource    corev1.ResourceName
	Requested   resource.Quantity
	Allocatable resource.Quantity // 0 if the node does not have the resource
}

// Term is a node selector term that does not match.
type Term struct {
	Unmet []Requirement // those that would fail alone; none if the term is empty and so matches nothing
}

// Requirement is what a pod wants of a label, or of a field, of the node, and what is there.
type Requirement struct {
	Key      string
	Operator corev1.NodeSelectorOperator
	Values   []string
	Field    bool // a field of the node, not a label
	Invalid  bool // Kubernetes can't make sense of it, and matches nothing

	Has   string // the node's value
	There bool   // whether the node has one
}

// String is the reason in one line, to be read beside the names of pod and node.
func (r Reason) String() string {
	switch r.Kind {
	case NodeName:
		return fmt.Sprintf("nodeName is %s", r.Name)
	case Cordoned:
		return "the node is cordoned"
	case Taint:
		return fmt.Sprintf("taint %s is not tolerated", r.Taint.ToString())
	case NodeSelector:
		return r.Label.String() + " (nodeSelector)"
	case NodeAffinity:
		return "affinity: " + oneOf(r.Terms)
	case PodCount:
		return "the node takes no pods"
	default:
		has := r.Allocatable.String()
		if r.Allocatable.IsZero() {
			has = "none"
		}
		return fmt.Sprintf("requests %s %s, the node has %s", r.Resource, r.Requested.String(), has)
	}
}

func oneOf(terms []Term) string {
	switch len(terms) {
	case 0:
		return "there is no term, and so nothing matches"
	case 1:
		return terms[0].String()
	}
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = fmt.Sprintf("(%d) %s", i+1, t)
	}
	return fmt.Sprintf("none of %d terms matches: %s", len(terms), strings.Join(parts, "; "))
}

// String names what fails, all of it.
func (t Term) String() string {
	if len(t.Unmet) == 0 {
		return "the term is empty, and so matches nothing"
	}
	parts := make([]string, len(t.Unmet))
	for i, r := range t.Unmet {
		parts[i] = r.String()
	}
	return strings.Join(parts, ", and ")
}

// String says what is there and what was wanted.
func (r Requirement) String() string {
	what := "label " + r.Key
	if r.Field {
		what = "field " + r.Key
	}
	if r.Invalid {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s", what, r.Operator, strings.Join(r.Values, ", "))) + " is not valid, and so matches nothing"
	}
	is := what + " is not there"
	if r.There {
		is = fmt.Sprintf("%s is %s", what, value(r.Has))
	}
	if wanted := r.wanted(); wanted != "" {
		return is + ", wanted " + wanted
	}
	return is
}

// wanted is what would satisfy the requirement; "" if any value would.
func (r Requirement) wanted() string {
	values := make([]string, len(r.Values))
	for i, v := range r.Values {
		values[i] = value(v)
	}
	list := strings.Join(values, ", ")
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(values) > 1 {
			return "one of " + list
		}
		return list
	case corev1.NodeSelectorOpNotIn:
		return "anything but " + list
	case corev1.NodeSelectorOpDoesNotExist:
		return "no such label"
	case corev1.NodeSelectorOpGt:
		return "a number above " + list
	case corev1.NodeSelectorOpLt:
		return "a number below " + list
	default:
		return ""
	}
}

// value shows the empty value, which a label may have.
func value(v string) string {
	if v == "" {
		return `""`
	}
	return v
}
