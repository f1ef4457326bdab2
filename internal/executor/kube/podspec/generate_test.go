package podspec

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/placement/profile"
)

type (
	object = map[string]any
	list   = []any
)

// generated is an operator file and a pipeline file, as text, that come to a plan.
type generated struct {
	operator, pipeline string
	security           profile.PodSecurity
}

// existing is what an API server demands to be there before a pod that names it.
type existing struct{ account, class, otherClass, runtime string }

// files gives pairs of files that use as much of both languages as goes together: values that may meet at
// one place of a pod are such that a pod with any of them is valid.
func (e existing) files() *rapid.Generator[generated] {
	return rapid.Custom(func(t *rapid.T) generated {
		g := gen{T: t, existing: e}
		g.security = rapid.SampledFrom([]profile.PodSecurity{profile.BaselineStandard, profile.Restricted, profile.Privileged}).Draw(t, "security")
		operator := g.operator()
		g.author = true
		return generated{g.written(operator), g.written(g.pipeline()), g.security}
	})
}

type gen struct {
	*rapid.T
	existing
	security profile.PodSecurity
	author   bool // draws what an author writes, not the operator
}

func (g gen) written(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		g.Fatal(err)
	}
	return string(text)
}

func (g gen) yes() bool { return rapid.Bool().Draw(g.T, "yes") }

// rarely is one in four.
func (g gen) rarely() bool { return pick(g, false, false, false, true) }

func pick[V any](g gen, choices ...V) V { return rapid.SampledFrom(choices).Draw(g.T, "pick") }

func (g gen) number(from, to int) int { return rapid.IntRange(from, to).Draw(g.T, "number") }

// some gives up to most of what draw draws, and at least one.
func some[V any](g gen, most int, draw func(i int) V) []V {
	var all []V
	for i := range g.number(1, most) {
		all = append(all, draw(i))
	}
	return all
}

// subset gives at least one of the choices, in their order.
func (g gen) subset(choices ...string) list {
	kept := list{pick(g, choices...)}
	for _, c := range choices {
		if c != kept[0] && g.yes() {
			kept = append(kept, c)
		}
	}
	return kept
}

// set sets a field or not.
func (g gen) set(m object, field string, value func() any) {
	if g.yes() {
		m[field] = value()
	}
}

func the(v any) func() any { return func() any { return v } }

// text is any text: with what the kubelet, a shell and YAML take for more than text.
func (g gen) text() string {
	parts := some(g, 5, func(int) string {
		return pick(g, "$", "$$", "$(TOKEN)", "$(BERTH_RUN)", "$$(TOKEN)", "$(", ")", "${TOKEN}", "{", "}", "`id`", "a", "B-2", "1.20", "010", "yes", "~",
			"null", " ", "\n", "\t", "\"", "'", "\\", "#", ": ", "- ", "&", "*", "!", "%", "@", "<", ">", "|", ",", "é", "日本", "🙂", "\u00a0")
	})
	return strings.ReplaceAll(strings.Join(parts, ""), "${{", "")
}

// late is a text with what is only known when the step starts in it, where it may have some.
func (g gen) late(needs bool) string {
	expressions := []string{"${{ params.odd }}", "${{ run.id }}", "${{ run.pipeline + '$(TOKEN)' }}", "${{ '$$' }}"}
	if needs {
		expressions = append(expressions, "${{ steps.first.outputs.digest }}", "${{ steps.first.status }}")
	}
	if g.yes() {
		return g.text()
	}
	return g.text() + pick(g, expressions...) + g.text()
}

func (g gen) operator() object {
	baseline := object{}
	g.set(baseline, "k8s", func() any { return g.fragment("baseline") })
	g.set(baseline, "resources", func() any { return g.resources() })
	var profiles list
	for i := range 4 {
		p := object{"name": fmt.Sprintf("p%d", i), "k8s": g.fragment(fmt.Sprintf("p%d", i))}
		switch i {
		case 0:
			g.set(p, "default", the(true))
		case 1:
			g.set(p, "restricted", the(true))
			g.set(p, "description", func() any { return g.text() })
		}
		profiles = append(profiles, p)
	}
	permits := object{"k8s_overlay": true, "secrets": list{"sec.ret", "secret"}, "service_accounts": list{g.account}, "claims": list{"claim", "device"}}
	if restricted := profiles[1].(object)["restricted"]; restricted == true {
		permits["placement_profiles"] = list{"p1"}
	}
	o := object{"version": 1, "baseline": baseline, "placement_profiles": profiles,
		"environments": list{object{"name": "target", "permits": permits}}, "pools": list{object{"name": "pool", "slots": 2}},
		"executor": object{"kubernetes": object{"pod_security": string(g.security)}}}
	if len(baseline) == 0 {
		delete(o, "baseline")
	}
	return o
}

// fragment draws a pod-spec fragment of a layer, which is never empty.
func (g gen) fragment(layer string) object {
	f := object{"labels": g.labels(layer)}
	g.set(f, "annotations", func() any {
		return object{"example.com/" + layer: g.annotation(), "example.com/shared": g.annotation()}
	})
	g.placementFields(f)
	g.podFields(f)
	if g.author {
		g.set(f, "schedulerName", func() any { return pick(g, "default-scheduler", "another") })
	}
	g.containers(f, layer)
	return f
}

func (g gen) labels(layer string) object {
	labels := object{"example.com/" + layer: pick(g, "a", "b_c", "1.20", "true", "")}
	if g.yes() {
		labels["app"] = pick(g, "x", "y")
	}
	if !g.author && g.yes() {
		labels["example.com/owner"] = "${{ run.pipeline }}"
	}
	return labels
}

func (g gen) annotation() string {
	if g.author {
		return g.text()
	}
	return g.text() + pick(g, "", "${{ run.environment }}")
}
