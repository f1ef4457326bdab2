package placement

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"pgregory.net/rapid"
)

func sameFragment(t *rapid.T, law string, a, b map[string]any) {
	if !equal(a, b) {
		x, _ := json.MarshalIndent(a, "", "  ")
		y, _ := json.MarshalIndent(b, "", "  ")
		t.Fatalf("%s:\n%s\nand\n%s", law, x, y)
	}
}

func TestLawEmptyChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, true)
		i := rapid.IntRange(0, len(layers)).Draw(t, "at")
		empty := Layer{Kind: Profile, Name: "empty", Fragment: rapid.SampledFrom([]map[string]any{nil, {}}).Draw(t, "empty")}
		without, with := Compose(layers, Governs{}), Compose(slices.Insert(slices.Clone(layers), i, empty), Governs{})
		if !reflect.DeepEqual(without, with) {
			t.Fatalf("got\n%v\nand\n%v", without, with)
		}
	})
}

func TestLawTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, rapid.Bool().Draw(t, "overlay"))
		once, twice := Compose(layers, Governs{}), Compose(append(layers, layers[len(layers)-1]), Governs{})
		sameFragment(t, "once and twice", once.Fragment, twice.Fragment)
		if !reflect.DeepEqual(once.Findings, twice.Findings) {
			t.Fatalf("findings\n%v\nand\n%v", once.Findings, twice.Findings)
		}
	})
}

func TestLawProfilesCommute(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		g := gen{T: t}
		baseline, p, q := Layer{Kind: Baseline, Fragment: g.fragment()}, Layer{Kind: Profile, Name: "p", Fragment: g.fragment()}, Layer{Kind: Profile, Name: "q", Fragment: g.fragment()}
		pq, qp := Compose([]Layer{baseline, p, q}, Governs{}), Compose([]Layer{baseline, q, p}, Governs{})
		conflict := func(f finding.Finding) bool { return f.Code == finding.ProfileConflict }
		if slices.ContainsFunc(pq.Findings.All(), conflict) != slices.ContainsFunc(qp.Findings.All(), conflict) {
			t.Fatalf("a conflict in one order alone: %v and %v", pq.Findings, qp.Findings)
		}
		if !slices.ContainsFunc(pq.Findings.All(), conflict) {
			compared++
			sameFragment(t, "p q and q p", unordered(pq.Fragment), unordered(qp.Fragment))
		}
	})
	if compared < 10 {
		t.Errorf("only %d had no conflict", compared)
	}
}

// unordered sorts all lists, and writes out what is implied in keys, which the first layer may spell
// as it likes.
func unordered(m map[string]any) map[string]any { return sorted(Clone(m)).(map[string]any) }

func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = sorted(e)
		}
		spell(v, "tolerations", "key", "value", "effect", "operator")
		spell(v, "ports", "protocol")
	case []any:
		for i, e := range v {
			v[i] = sorted(e)
		}
		slices.SortFunc(v, func(a, b any) int { return slices.Compare(asJSON(a), asJSON(b)) })
	}
	return v
}

func spell(m map[string]any, list string, fields ...string) {
	items, _ := m[list].([]any)
	for _, e := range items {
		for _, f := range fields {
			if o := e.(map[string]any); o[f] == nil || o[f] == "" {
				o[f] = map[string]string{"operator": "Equal", "protocol": "TCP"}[f]
			}
		}
	}
	slices.SortFunc(items, func(a, b any) int { return slices.Compare(asJSON(a), asJSON(b)) })
}

func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func TestLawBaselineTolerationsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, rapid.Bool().Draw(t, "overlay"))
		result := Compose(layers, Governs{})
		list, _ := layers[0].Fragment["tolerations"].([]any)
		for _, e := range list {
			id, _ := podSpec.Field("tolerations").Identity(e.(map[string]any))
			if has(result.Fragment, id) {
				continue
			}
			path := Path{{Name: "tolerations"}, {id, true}}
			i := slices.IndexFunc(result.Origins, func(o Origin) bool { return slices.Equal(o.Path, path) })
			if i < 0 || result.Origins[i].Value != nil || !slices.Equal(result.Origins[i].Layers, []string{"k8s_overlay"}) {
				t.Fatalf("%s is gone, and no overlay removed it: %v", path, result.Origins)
			}
		}
	})
}

func has(fragment map[string]any, toleration string) bool {
	list, _ := fragment["tolerations"].([]any)
	return slices.ContainsFunc(list, func(e any) bool {
		id, _ := podSpec.Field("tolerations").Identity(e.(map[string]any))
		return id == toleration
	})
}

func TestLawInputsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, true)
		before := asJSON(fragments(layers))
		result := Compose(layers, Governs{Locked: []Path{MustPath("tolerations"), MustPath("containers[step]")}})
		scribble(result.Fragment)
		for _, o := range result.Origins {
			scribble(o.Value)
			for _, r := range o.Replaced {
				scribble(r.Value)
			}
		}
		if after := asJSON(fragments(layers)); !slices.Equal(before, after) {
			t.Fatalf("were\n%s\nare\n%s", before, after)
		}
	})
}

func fragments(layers []Layer) []any {
	var all []any
	for _, l := range layers {
		all = append(all, l.Fragment)
	}
	return all
}

func scribble(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			scribble(e)
		}
		v["scribbled"] = true
	case []any:
		for i := range v {
			scribble(v[i])
			v[i] = "scribbled"
		}
	}
}

// Go ranges over a map in another order each time.
func TestLawMapOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, true)
		locks := Governs{Locked: []Path{MustPath("nodeSelector"), MustPath("containers")}}
		first := Compose(layers, locks)
		for range 3 {
			if again := Compose(layers, locks); !reflect.DeepEqual(first, again) {
				t.Fatalf("first\n%v\nthen\n%v", first, again)
			}
		}
	})
}

// The origins have every leaf of the result, and nothing else: the result can be built from them.
func TestLawOriginsAreTheResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, true)
		result := Compose(layers, Governs{})
		names := map[string]bool{}
		for _, l := range layers {
			names[l.String()] = true
		}
		built := map[string]any{}
		for _, o := range result.Origins {
			if o.Value != nil {
				build(built, o.Path, Clone(o.Value))
			} else if len(o.Replaced) == 0 {
				t.Fatalf("%s was removed, and nothing was there", o.Path)
			}
			for _, l := range o.Layers {
				if !names[l] {
					t.Fatalf("%s: there is no layer %s", o.Path, l)
				}
			}
			if len(o.Layers) == 0 || len(o.Layers) > 1 && o.Value == nil {
				t.Fatalf("%s comes from %v", o.Path, o.Layers)
			}
		}
		sameFragment(t, "result and what origins say", result.Fragment, built)
	})
}

// build puts a leaf into a tree to which leaves come in the order of their paths.
func build(m map[string]any, p Path, v any) {
	name := p[0].Name
	switch {
	case len(p) == 1:
		m[name] = v
	case p[1].Item:
		list, _ := m[name].([]any)
		if len(p) == 2 {
			m[name] = append(list, v)
			return
		}
		build(list[len(list)-1].(map[string]any), p[2:], v)
	default:
		if m[name] == nil {
			m[name] = map[string]any{}
		}
		build(m[name].(map[string]any), p[1:], v)
	}
}
