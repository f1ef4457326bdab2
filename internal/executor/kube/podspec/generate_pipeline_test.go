package podspec

import (
	"fmt"
	"slices"
	"strings"
)

func (g gen) pipeline() object {
	p := object{"version": 1, "name": pick(g, "build", "a", "p-"+strings.Repeat("x", 38)), "environment": "target",
		"params": object{"odd": object{"default": g.text()}}}
	g.set(p, "workspace", func() any {
		w := object{"size": "1Gi"}
		g.set(w, "access_mode", func() any { return pick(g, "ReadWriteMany", "ReadWriteOnce") })
		return w
	})
	defaults := object{"image": pick(g, "golang:1.26", "example.com:5000/a/b:v1")}
	g.set(defaults, "env", func() any { return object{"DEFAULT": g.text(), "TOKEN": "expanded"} })
	g.set(defaults, "resources", func() any { return g.resources() })
	p["defaults"] = defaults
	first := g.step("first", p, false)
	first["outputs"] = list{"digest"}
	steps := list{first}
	for i := range g.number(0, 2) {
		s := g.step(pick(g, "then", strings.Repeat("long-", 8)+"s")+fmt.Sprint(i), p, true)
		s["needs"] = list{"first"}
		steps = append(steps, s)
	}
	p["steps"] = steps
	return p
}

func (g gen) step(name string, p object, needs bool) object {
	s := object{"name": name, "env": object{"OWN": g.late(needs), "NUMBER": 10, "FLAG": g.yes()}}
	profiles := g.subset("p0", "p1", "p2", "p3")
	if needs && g.yes() { // not of the first step, of whose outputs the others read
		s["matrix"] = object{"arch": list{"p2", "p3"}, "n": list{1, 2}, "exclude": list{object{"arch": "p3", "n": 2}}}
		profiles = slices.DeleteFunc(profiles, func(p any) bool { return p == "p2" || p == "p3" })
		profiles = append(profiles, "${{ matrix.arch }}")
		s["env"].(object)["N"] = "${{ matrix.n + 1 }}"
	}
	g.set(s, "placement_profiles", the(profiles))
	switch {
	case g.yes():
		s["run"] = "#\n" + g.late(needs)
		g.set(s, "shell", the(list{"bash", "-euo", "pipefail"}))
	default:
		s["command"] = list{"/bin/tool", g.late(needs), g.late(needs)}
		g.set(s, "args", func() any { return some(g, 3, func(int) string { return g.late(needs) }) })
	}
	g.set(s, "secrets", func() any { return object{"SECRET": "secret/k", "OTHER": "sec.ret/a.b_c-d"} })
	g.set(s, "service_account", the(g.account))
	g.set(s, "resources", func() any { return g.resources() })
	g.set(s, "services", func() any { return g.services(needs) })
	g.set(s, "working_dir", the("/work"))
	if _, ok := p["workspace"]; ok {
		g.set(s, "workspace", func() any { return g.yes() })
	}
	g.set(s, "timeout", func() any { return pick(g, "1s", "90m", "1500ms") })
	g.set(s, "retry", the(object{"max": 2, "on": list{"lost"}}))
	g.set(s, "pool", the("pool"))
	g.set(s, "k8s_overlay", func() any { return g.overlay() })
	return s
}

func (g gen) services(needs bool) list {
	var all list
	for i := range g.number(1, 3) {
		s := object{"name": fmt.Sprintf("db-%d", i), "image": "postgres:17"}
		g.set(s, "ready", func() any {
			return pick(g, object{"tcp": 5432}, object{"http": object{"port": 80}}, object{"http": object{"port": 80, "path": "/$(x)?a=b"}}, object{"exec": list{"test", g.text()}})
		})
		g.set(s, "command", func() any { return list{"/bin/db", g.late(needs)} })
		g.set(s, "args", func() any { return list{g.late(needs)} })
		g.set(s, "env", func() any { return object{"PASSWORD": g.late(needs)} })
		g.set(s, "resources", func() any { return g.resources() })
		all = append(all, s)
	}
	return all
}

// overlay is a fragment that takes things away now and then.
func (g gen) overlay() object {
	f := g.fragment("overlay")
	if g.rarely() {
		f["nodeSelector"] = nil
	}
	if g.rarely() {
		f["tolerations"] = list{object{"key": "mine", "operator": "Exists"}, object{"$patch": "replace"}}
	}
	if g.rarely() {
		f["affinity"] = object{"podAntiAffinity": nil, "nodeAffinity": object{"$patch": "replace"}}
	}
	if g.rarely() {
		f["labels"] = object{"app": nil, "example.com/param": pick(g, "${{ run.pipeline }}", "${{ run.environment }}")}
	}
	return f
}
