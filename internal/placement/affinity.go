package placement

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostTerms is how many alternatives the required node affinity of a pod may come to. Combining is
// multiplication, and a scheduler looks at each alternative for each node.
const mostTerms = 64

// demand is the required node affinity of several layers: the pod may run where one of the terms
// holds, and each term implies one term of every part.
type demand struct {
	parts []part
	terms []term // no term demands all that another does
}

// part is what one layer demands.
type part struct {
	layer   string
	written any
	terms   []term
}

// term is a set of expressions that must all hold; never empty, since the scheduler takes an empty
// term for one that matches nothing.
type term []*expression

// expression is one node selector requirement. It is never written to.
type expression struct {
	id       string // equal for expressions that mean the same
	isField  bool   // of matchFields, else of matchExpressions
	key, op  string
	values   []string
	written  map[string]any
	layers   []string // that demand it
	selector bool     // stands for an entry of nodeSelector
}

// add demands one more layer's part as well. If that makes too many terms it says no, and the
// demand stays as it was.
func (d *demand) add(p part) bool {
	terms, ok := absorb(p.terms)
	if ok && len(d.parts) > 0 {
		terms, ok = absorb(combine(d.terms, terms))
	}
	if ok {
		d.parts, d.terms = append(d.parts, p), terms
	}
	return ok
}

// combine gives the conjunction of two disjunctions, as a disjunction.
func combine(a, b []term) []term {
	product := make([]term, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			product = append(product, x.and(y))
		}
	}
	return product
}

// and gives the expressions of both terms, t's first.
func (t term) and(u term) term {
	both := make(term, len(t), len(t)+len(u))
	copy(both, t)
	for _, e := range u {
		i := slices.IndexFunc(both, func(o *expression) bool { return o.id == e.id })
		if i < 0 {
			both = append(both, e)
		} else {
			both[i] = both[i].demandedBy(e.layers)
		}
	}
	return both
}

// demandedBy is the expression with more layers that demand it.
func (e *expression) demandedBy(layers []string) *expression {
	c := *e
	c.layers = slices.Clone(e.layers)
	for _, l := range layers {
		if !slices.Contains(c.layers, l) {
			c.layers = append(c.layers, l)
		}
	}
	return &c
}

// absorb drops the terms that demand all that another one does: where they hold, the other holds. It
// fails if more than mostTerms are left, as soon as that is certain.
func absorb(terms []term) ([]term, bool) {
	order := make([]int, len(terms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(len(terms[i]), len(terms[j])) })
	var kept []int // shorter ones first, so that none that is kept is dropped later
	for _, i := range order {
		if slices.ContainsFunc(kept, func(k int) bool { return terms[i].implies(terms[k]) }) {
			continue
		}
		if kept = append(kept, i); len(kept) > mostTerms {
			return nil, false
		}
	}
	slices.Sort(kept)
	result := make([]term, len(kept))
	for n, i := range kept {
		result[n] = terms[i]
	}
	return result, true
}

// implies says whether t has all expressions of u.
func (t term) implies(u term) bool {
	return !slices.ContainsFunc(u, func(e *expression) bool {
		return !slices.ContainsFunc(t, func(o *expression) bool { return o.id == e.id })
	})
}

// parseTerms reads nodeSelectorTerms. Terms that are empty drop out.
func parseTerms(list []any, layer string) ([]term, error) {
	var terms []term
	for _, e := range list {
		o, ok := e.(map[string]any)
		if !ok && e != nil {
			return nil, fmt.Errorf("a node selector term is an object, and %s is not", shown(e))
		}
		t, err := parseTerm(o, layer)
		if err != nil {
			return nil, err
		}
		if len(t) > 0 {
			terms = append(terms, t)
		}
	}
	return terms, nil
}

func parseTerm(o map[string]any, layer string) (term, error) {
	for _, name := range sortedKeys(o) {
		if name != "matchExpressions" && name != "matchFields" && !strings.HasPrefix(name, "$") {
			return nil, fmt.Errorf("a node selector term has matchExpressions and matchFields, and this one %s: Berth can't combine what it does not know", name)
		}
	}
	var t term
	for _, name := range []string{"matchExpressions", "matchFields"} {
		list, ok := o[name].([]any)
		if !ok && o[name] != nil {
			return nil, fmt.Errorf("%s is a list", name)
		}
		for _, e := range list {
			x, err := parseExpression(e, name == "matchFields", layer)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			t = t.and(term{x})
		}
	}
	return t, nil
}

func parseExpression(e any, isField bool, layer string) (*expression, error) {
	o, ok := e.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an expression is an object, and %s is not", shown(e))
	}
	x := &expression{isField: isField, layers: []string{layer}, written: Clone(o).(map[string]any)}
	var okKey, okOp bool
	x.key, okKey = o["key"].(string)
	x.op, okOp = o["operator"].(string)
	if !okKey || !okOp {
		return nil, errors.New("an expression has a key and an operator, both strings")
	}
	values, ok := o["values"].([]any)
	if !ok && o["values"] != nil {
		return nil, errors.New("values is a list")
	}
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s is not a string: quote it", shown(v))
		}
		x.values = append(x.values, s)
	}
	sorted := slices.Clone(x.values)
	slices.Sort(sorted)
	x.id = fmt.Sprintf("%t %q %q %q", isField, x.key, x.op, slices.Compact(sorted))
	return x, nil
}

// render gives the terms as they are written in a pod.
func (d *demand) render() []any {
	list := make([]any, len(d.terms))
	for i, t := range d.terms {
		o := map[string]any{}
		for _, e := range t {
			name := "matchExpressions"
			if e.isField {
				name = "matchFields"
			}
			exprs, _ := o[name].([]any)
			o[name] = append(exprs, Clone(e.written))
		}
		list[i] = o
	}
	return list
}
