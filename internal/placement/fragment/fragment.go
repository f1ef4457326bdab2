package fragment

import (
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// Fragment is a fragment as it was written: values as package placement wants them, and where each
// stands. It is not to be used if Read found errors, except to look for more.
type Fragment struct {
	Value map[string]any
	Node  *source.Node // nil if nothing was written

	long index
}

// Rules is what there is to know about a fragment before it is read.
type Rules struct {
	Layer       placement.Kind // Baseline, Profile or Overlay: whose it is and what it may do
	Path        string         // where in its file it is, which begins the paths of findings
	Privileged  bool           // pod security is privileged: an author's field that Berth does not know is a warning
	Expressions bool           // of an author's: a string with ${{ in it is an expression that is not known yet
}

// operators says whether the fragment is the operator's. Expressions in it, which only labels and
// annotations may have, are known from its text alone.
func (r Rules) operators() bool { return r.Layer != placement.Overlay }

// Read reads a fragment and reports all that is wrong with it. n is nil if nothing was written.
func Read(n *source.Node, rules Rules) (Fragment, finding.List) {
	if n == nil {
		return Fragment{}, finding.List{}
	}
	f := Fragment{Node: n, long: index{}}
	r := &reader{rules: rules, long: f.long}
	root := &trail{schema: placement.PodSpec()}
	switch n.Kind {
	case source.Map:
		v, _ := r.object(n, root, podSpec())
		f.Value = v.(map[string]any)
	case source.Null:
		r.fault(n, finding.WrongType, root, "give it a value, or leave the key out", "%s has no value", r.shown(root))
	default:
		r.fault(n, finding.WrongType, root, "write the keys of a pod spec", "%s is %s, and must be a map", r.shown(root), n.Describe())
	}
	return f, finding.Of(r.findings...)
}
