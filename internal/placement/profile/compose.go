package profile

import (
	"fmt"
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// compose composes the baseline alone, and each profile with it, as a step that lists the profile would
// have them, so that what can't work is found before any step is refused for it.
func (l *loader) compose() {
	b := l.file.Baseline
	layers := []placement.Layer{{Kind: placement.Baseline, Fragment: b.K8s.Value, Locate: b.K8s.Locate}}
	governs := l.file.Governs()
	sound := l.composed(layers, governs, b.K8s, "baseline.k8s") && !l.unsound
	if b.Resources != nil {
		layers = append(layers, placement.Layer{Kind: placement.Baseline, Fragment: b.Resources.Fragment(), Locate: b.Resources.Locate})
	}
	if sound {
		origins := placement.Compose(layers, governs).Origins
		l.twice(origins)
		l.unset(origins)
	} else {
		// What is wrong with the baseline, or missing from it, would be found in each profile again: look at
		// them alone.
		layers, governs.Locked = nil, nil
	}
	for i := range l.file.Profiles {
		p := &l.file.Profiles[i]
		layer := placement.Layer{Kind: placement.Profile, Name: p.Name, Fragment: p.K8s.Value, Locate: p.K8s.Locate}
		at := source.At("placement_profiles", i, l.root.Field("placement_profiles").Item(i)) + ".k8s"
		l.composed(append(slices.Clone(layers), layer), governs, p.K8s, at)
	}
}

// composed reports what composing finds, as being about the last layer's fragment, which is at a path of the
// file: those before it were found to be sound. It says whether this one is.
func (l *loader) composed(layers []placement.Layer, governs placement.Governs, last fragment.Fragment, at string) bool {
	findings := placement.Compose(layers, governs).Findings
	for _, f := range findings.All() {
		if f.Code == finding.PlacementImpossible {
			f = l.contradiction(f, last.Node)
		}
		f.Path = source.Join(at, f.Path)
		l.add(f)
	}
	return !findings.HasErrors()
}

// contradiction gives the finding a position: none of the layers is at fault alone.
func (l *loader) contradiction(f finding.Finding, n *source.Node) finding.Finding {
	for _, name := range []string{"affinity", "nodeSelector"} {
		if key := n.Key(name); key != nil {
			f.File, f.Line, f.Column = key.File, key.Line, key.Column
			break
		}
	}
	f.Fix = "change what disagrees: the required node affinity of all layers holds together, and so does the node selector"
	return f
}

// twice refuses a value that baseline.k8s and baseline.resources both set, and differently.
func (l *loader) twice(origins []placement.Origin) {
	b := l.file.Baseline
	for _, o := range origins {
		if len(o.Replaced) == 0 {
			continue
		}
		f := finding.Finding{Code: finding.BaselineTwice, Severity: finding.Error, Path: "baseline.resources",
			Message: fmt.Sprintf("%s is %v here, and %v in baseline.k8s", o.Path, o.Value, o.Replaced[0].Value),
			Fix:     "leave it out of baseline.k8s"}
		f.File, f.Line, f.Column = b.Resources.Locate(o.Path)
		l.add(f)
	}
}

// unset warns of a lock on what the baseline does not set, while it sets something of almost that name, or
// other items of that list: such a lock is allowed, and then nobody may set the field, but not likely meant.
func (l *loader) unset(origins []placement.Origin) {
	for _, w := range l.locked {
		if len(w.Path) < 2 || slices.ContainsFunc(origins, func(o placement.Origin) bool { return w.Covers(o.Path) || o.Path.Covers(w.Path) }) {
			continue
		}
		parent, last := w.Path[:len(w.Path)-1], w.Path[len(w.Path)-1]
		var beside []string
		for _, o := range origins {
			if len(o.Path) >= len(w.Path) && parent.Covers(o.Path) && o.Path[len(parent)].Item == last.Item {
				beside = append(beside, o.Path[:len(w.Path)].String())
			}
		}
		near, ok := finding.Nearest(w.String(), beside)
		if !ok && (len(beside) == 0 || !last.Item) {
			continue
		}
		fix := "did you mean " + near + "?"
		if !ok {
			fix = "the baseline has " + finding.Either(slices.Compact(beside))
		}
		l.add(w.node.Found(finding.LockUnmatched, finding.Warning, w.at, fix,
			"the baseline does not set %s: the lock keeps everyone from setting it, and does nothing else", w))
	}
}
