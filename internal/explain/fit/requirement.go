package fit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

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
