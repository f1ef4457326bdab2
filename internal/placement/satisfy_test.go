package placement

import (
	"strings"
	"testing"
)

// TestSatisfiable has each pair of operators, and the bounds of integers.
func TestSatisfiable(t *testing.T) {
	tests := []struct {
		exprs string // OP VALUES joined by ", "
		want  bool
	}{
		{"In a", true}, {"In", false}, {"NotIn a", true}, {"NotIn", true}, {"Exists", true}, {"DoesNotExist", true},
		{"In a b, In b c", true}, {"In a, In b", false}, {"In a b, NotIn a", true}, {"In a, NotIn a", false},
		{"In a, Exists", true}, {"In a, DoesNotExist", false}, {"In a, Gt 1", false}, {"In 2, Gt 1", true}, {"In 1, Gt 1", false},
		{"In 2, Lt 2", false}, {"In 02, Lt 3", true}, {"In 1 3 9, Gt 1, Lt 4", true}, {"In 1 3 9, Gt 1, Lt 4, NotIn 3", false},
		{"NotIn a, Exists", true}, {"NotIn a, DoesNotExist", true}, {"NotIn a, NotIn b", true}, {"NotIn 2, Gt 1, Lt 3", true},
		{"Exists, DoesNotExist", false}, {"Gt 1, DoesNotExist", false}, {"Lt 1, DoesNotExist", false}, {"Exists, Gt 1", true},
		{"Gt 1, Lt 3", true}, {"Gt 1, Lt 2", false}, {"Gt 2, Lt 1", false}, {"Gt x", false}, {"Lt 1.5", false}, {"Gt", false}, {"Gt 1 2", false},
		{"Lt 0", false}, {"Lt 1", true}, {"Gt -5", true}, {"Lt -5", false},
		{"Gt 9223372036854775807", false}, {"Gt 9223372036854775806", true}, {"Lt -9223372036854775808", false}, {"Gt 9223372036854775808", false},
		{"In a b, In b c, In a c", false}, {"Like a", true}, {"Like a, In a", true},
	}
	for _, test := range tests {
		var exprs term
		for part := range strings.SplitSeq(test.exprs, ", ") {
			words := strings.Fields(part)
			exprs = append(exprs, &expression{id: part, key: "k", op: words[0], values: words[1:]})
		}
		if got := satisfiable(exprs); got != test.want {
			t.Errorf("%s: %t", test.exprs, got)
		}
		if culprits := exprs.culprits(); (culprits == nil) != test.want {
			t.Errorf("%s: culprits %v", test.exprs, culprits)
		}
	}
}

// A label and a field of one name are two things.
func TestFieldsAreNoLabels(t *testing.T) {
	x, y := &expression{id: "x", key: "metadata.name", op: "In", values: []string{"a"}}, &expression{id: "y", key: "metadata.name", isField: true, op: "In", values: []string{"b"}}
	if why := (term{x, y}).disagreement(); why != "" {
		t.Error(why)
	}
}
