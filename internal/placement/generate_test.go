package placement

import (
	"pgregory.net/rapid"
)

// gen draws fragments that say something about every rule, from few names and values, so that
// layers meet.
type gen struct {
	*rapid.T
	removes bool // nulls and directives as well
	theirs  bool // only what Kubernetes' strategic merge does in the same way
}

// chance is one in 2 to the power of halvings. It shrinks to no, so that counterexamples are small;
// drawn integers would be mostly small ones.
func (g gen) chance(halvings int) bool {
	for range halvings {
		if !rapid.Bool().Draw(g.T, "chance") {
			return false
		}
	}
	return true
}

func (g gen) pick(choices ...string) string { return rapid.SampledFrom(choices).Draw(g.T, "pick") }

// some gives each of the choices or not, in the order that they are given in.
func (g gen) some(choices ...string) []string {
	var some []string
	for _, c := range choices {
		if g.chance(1) {
			some = append(some, c)
		}
	}
	return some
}

// set sets a field or not; where it may, it removes it instead now and then.
func (g gen) set(m map[string]any, field string, value func() any) {
	switch {
	case !g.chance(1):
	case g.removes && g.chance(3):
		m[field] = nil
	default:
		m[field] = value()
	}
}

func (g gen) text(choices ...string) func() any { return func() any { return g.pick(choices...) } }

func (g gen) number(most int) func() any {
	return func() any { return rapid.IntRange(0, most).Draw(g.T, "number") }
}

func (g gen) dict(keys ...string) func() any {
	return func() any {
		m := map[string]any{}
		for _, k := range g.some(keys...) {
			m[k] = g.pick("1", "2") // a label's value, and a quantity
		}
		if g.removes && !g.theirs && g.chance(3) {
			m["$patch"] = "replace"
		}
		return m
	}
}

func (g gen) plain(choices ...string) func() any {
	return func() any {
		list := []any{}
		for _, c := range g.some(choices...) {
			list = append(list, c)
		}
		return list
	}
}

// keyed gives a list with an item for some of the names.
func (g gen) keyed(key string, item func(map[string]any), names ...string) func() any {
	return func() any {
		list := []any{}
		for _, name := range g.some(names...) {
			m := map[string]any{key: name}
			if g.removes && !g.theirs && g.chance(3) {
				m["$patch"] = "delete"
			} else {
				item(m)
			}
			list = append(list, m)
		}
		return g.replace(list)
	}
}

func (g gen) replace(list []any) []any {
	if g.removes && !g.theirs && g.chance(3) {
		list = append(list, map[string]any{"$patch": "replace"})
	}
	return list
}

func (g gen) fragment() map[string]any {
	m := map[string]any{}
	g.set(m, "nodeSelector", g.dict("a", "b", "c"))
	g.set(m, "priorityClassName", g.text("low", "high"))
	g.set(m, "terminationGracePeriodSeconds", g.number(2))
	g.set(m, "hostNetwork", func() any { return g.chance(1) })
	g.set(m, "dnsConfig", func() any { return map[string]any{"searches": g.plain("a", "b")()} })
	g.set(m, "imagePullSecrets", g.keyed("name", func(map[string]any) {}, "r", "s"))
	g.set(m, "hostAliases", g.keyed("ip", func(m map[string]any) { m["hostnames"] = g.plain("h", "i")() }, "1.1.1.1", "1.1.1.2"))
	g.set(m, "containers", g.keyed("name", g.container, "step", "db"))
	g.set(m, "initContainers", g.keyed("name", g.container, "init"))
	g.set(m, "volumes", g.keyed("name", g.volume, "v", "w"))
	if g.theirs {
		return m
	}
	g.set(m, "labels", g.dict("a", "b"))
	g.set(m, "newer", func() any { return map[string]any{"mode": g.pick("x", "y"), "list": g.plain("a")()} })
	g.set(m, "tolerations", g.tolerations)
	g.set(m, "topologySpreadConstraints", g.spread)
	g.set(m, "affinity", g.affinity)
	return m
}

func (g gen) spread() any {
	list := []any{}
	for _, topology := range g.some("zone", "host") {
		for _, when := range g.some("DoNotSchedule", "ScheduleAnyway") {
			m := map[string]any{"topologyKey": topology, "whenUnsatisfiable": when}
			if g.removes && g.chance(2) {
				m["$patch"] = "delete"
			} else {
				m["maxSkew"] = g.number(3)()
			}
			list = append(list, m)
		}
	}
	return g.replace(list)
}

func (g gen) container(m map[string]any) {
	g.set(m, "image", g.text("i", "j"))
	g.set(m, "args", g.plain("--a", "--b"))
	g.set(m, "env", g.keyed("name", g.env, "A", "B"))
	g.set(m, "volumeMounts", g.keyed("mountPath", func(m map[string]any) { m["name"] = g.pick("v", "w") }, "/v", "/w"))
	g.set(m, "resources", func() any { return map[string]any{"requests": g.dict("cpu", "memory")()} })
	g.set(m, "securityContext", func() any {
		o := map[string]any{}
		g.set(o, "runAsUser", g.number(2))
		g.set(o, "seccompProfile", func() any { return map[string]any{"type": g.pick("RuntimeDefault", "Unconfined")} })
		return o
	})
	if g.theirs {
		return
	}
	g.set(m, "ports", func() any {
		list := []any{}
		for _, protocol := range g.some("TCP", "UDP") {
			port := map[string]any{"containerPort": 53, "name": g.pick("x", "y")}
			if protocol == "UDP" || g.chance(1) {
				port["protocol"] = protocol
			}
			list = append(list, port)
		}
		return list
	})
	g.set(m, "livenessProbe", func() any {
		o := map[string]any{}
		g.set(o, "periodSeconds", g.number(2))
		switch g.pick("exec", "tcp", "none") {
		case "exec":
			o["exec"] = map[string]any{"command": g.plain("a", "b")()}
		case "tcp":
			o["tcpSocket"] = map[string]any{"port": g.number(2)()}
		}
		return o
	})
}

func (g gen) env(m map[string]any) {
	if !g.theirs && g.chance(1) {
		ref := g.pick("secretKeyRef", "configMapKeyRef")
		m["valueFrom"] = map[string]any{ref: map[string]any{"name": g.pick("s", "t"), "key": "k"}}
		return
	}
	m["value"] = g.pick("1", "2")
}

func (g gen) volume(m map[string]any) {
	if !g.theirs && g.chance(1) {
		m["hostPath"] = map[string]any{"path": g.pick("/x", "/y")}
		return
	}
	dir := map[string]any{}
	g.set(dir, "medium", g.text("", "Memory"))
	g.set(dir, "sizeLimit", g.text("1Gi", "2Gi"))
	m["emptyDir"] = dir
}

func (g gen) tolerations() any {
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(g.T, "tolerations") {
		m := map[string]any{}
		for _, f := range [][]string{{"effect", "", "NoExecute"}, {"key", "a", "b"}, {"operator", "", "Equal", "Exists"}, {"value", "", "x"}} {
			if v := g.pick(append(f[1:], "absent")...); v != "absent" {
				m[f[0]] = v
			}
		}
		if g.removes && g.chance(2) {
			m["$patch"] = "delete"
		} else if g.chance(1) {
			m["tolerationSeconds"] = g.number(2)()
		}
		list = append(list, m)
	}
	return g.replace(list)
}

func (g gen) affinity() any {
	node, anti := map[string]any{}, map[string]any{}
	g.set(node, "requiredDuringSchedulingIgnoredDuringExecution", func() any {
		return map[string]any{"nodeSelectorTerms": g.replace(g.terms())}
	})
	g.set(node, "preferredDuringSchedulingIgnoredDuringExecution", func() any {
		list := []any{}
		for _, t := range g.terms() {
			list = append(list, map[string]any{"weight": 1, "preference": t})
		}
		return g.replace(list)
	})
	g.set(anti, "requiredDuringSchedulingIgnoredDuringExecution", func() any {
		list := []any{}
		for _, k := range g.some("zone", "host") {
			list = append(list, map[string]any{"topologyKey": k})
		}
		return list
	})
	return map[string]any{"nodeAffinity": node, "podAntiAffinity": anti}
}

func (g gen) terms() []any {
	list := []any{}
	for range rapid.IntRange(0, 3).Draw(g.T, "terms") {
		exprs := []any{}
		for range rapid.IntRange(0, 2).Draw(g.T, "expressions") {
			op := g.pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
			e := map[string]any{"key": g.pick("a", "b", "c"), "operator": op}
			switch op {
			case "In", "NotIn":
				e["values"] = g.plain("1", "2", "x", "y")()
			case "Gt", "Lt":
				e["values"] = []any{g.pick("0", "1", "2", "x")}
			}
			exprs = append(exprs, e)
		}
		list = append(list, map[string]any{"matchExpressions": exprs})
	}
	return list
}

// genLayers gives a baseline, some profiles and the author's layers.
func genLayers(t *rapid.T, removes bool) []Layer {
	g := gen{T: t}
	layers := []Layer{{Kind: Baseline, Fragment: g.fragment()}}
	for _, name := range g.some("p", "q", "r") {
		layers = append(layers, Layer{Kind: Profile, Name: name, Fragment: g.fragment()})
	}
	if g.chance(1) {
		layers = append(layers, Layer{Kind: Step, Fragment: g.fragment()})
	}
	if removes {
		g.removes = true
		layers = append(layers, Layer{Kind: Overlay, Fragment: g.fragment()})
	}
	return layers
}
