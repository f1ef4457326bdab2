package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/placement"
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
		g.security = rapid.SampledFrom([]profile.PodSecurity{profile.Default, profile.Restricted, profile.Privileged}).Draw(t, "security")
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

func (g gen) containers(f object, layer string) {
	step := object{"name": "step"}
	g.container(step, layer)
	containers := list{step}
	if g.rarely() {
		other := object{"name": "beside-" + layer, "image": "example.com/beside:1"}
		g.container(other, layer)
		g.secure(other)
		containers = append(containers, other)
	}
	if g.rarely() {
		before := object{"name": "before-" + layer, "image": "example.com/before@sha256:" + strings.Repeat("0", 64)}
		if g.yes() {
			before["restartPolicy"] = "Always"
		}
		g.environment(before, layer)
		g.secure(before)
		f["initContainers"] = list{before}
	}
	g.volumes(f, step, layer)
	if len(containers) > 1 || len(step) > 1 {
		f["containers"] = containers
	}
}

// secure gives a container what the standard demands of one that is not Berth's.
func (g gen) secure(c object) {
	if g.security == profile.Restricted {
		c["securityContext"] = object{"allowPrivilegeEscalation": false, "runAsNonRoot": true,
			"capabilities": object{"drop": list{"ALL"}}, "seccompProfile": object{"type": "RuntimeDefault"}}
	}
}

func (g gen) container(c object, layer string) {
	g.environment(c, layer)
	g.set(c, "imagePullPolicy", func() any { return pick(g, "Always", "IfNotPresent", "Never") })
	if layer != "baseline" || c["name"] != "step" { // else they are what baseline.resources is for
		g.set(c, "resources", func() any {
			r := g.resources()
			if _, long := r["limits"]; !long {
				r = object{"limits": r}
			}
			return r
		})
	}
	g.set(c, "lifecycle", func() any {
		return object{pick(g, "preStop", "postStart"): pick(g, object{"exec": object{"command": list{"sh", "-c", g.text()}}}, object{"sleep": object{"seconds": 3}})}
	})
	g.set(c, "livenessProbe", func() any {
		return pick(g, object{"exec": object{"command": list{"test", g.text()}}}, object{"tcpSocket": object{"port": 80}}, object{"grpc": object{"port": 81}},
			object{"httpGet": object{"port": "web", "path": "/?a=$(b)", "httpHeaders": list{object{"name": "X-A", "value": "b"}}}, "terminationGracePeriodSeconds": 5})
	})
	g.set(c, "ports", func() any {
		return list{object{"name": "web", "containerPort": 8080}, object{"containerPort": 53, "protocol": "UDP"}}
	})
	if g.rarely() {
		c["stdin"] = g.yes()
		c["tty"] = g.yes()
		c["resizePolicy"] = list{object{"resourceName": "cpu", "restartPolicy": "NotRequired"}}
	}
	if c["name"] == "step" {
		g.set(c, "securityContext", func() any { return g.containerSecurity() })
	}
}

func (g gen) containerSecurity() object {
	s := object{}
	g.set(s, "readOnlyRootFilesystem", func() any { return g.yes() })
	g.set(s, "runAsUser", func() any { return pick(g, 1000, 65532) })
	g.set(s, "runAsGroup", func() any { return pick(g, 0, 1000) })
	switch {
	case g.security == profile.Privileged && g.rarely():
		s["privileged"] = true
	case g.security == profile.Privileged && g.rarely():
		s["capabilities"] = object{"add": list{"SYS_ADMIN", "NET_ADMIN"}}
		s["procMount"] = "Default"
	case g.security == profile.Restricted:
		g.set(s, "capabilities", the(object{"drop": list{"ALL"}, "add": list{"NET_BIND_SERVICE"}}))
	default:
		g.set(s, "capabilities", the(object{"drop": list{"MKNOD"}, "add": list{"CHOWN", "NET_BIND_SERVICE"}}))
	}
	return s
}

func (g gen) environment(c object, layer string) {
	g.set(c, "env", func() any {
		env := list{object{"name": "TOKEN", "value": "expanded"}}
		for i := range g.number(0, 3) {
			e := object{"name": fmt.Sprintf("%s_%d", strings.ToUpper(layer), i)}
			switch g.number(0, 4) {
			case 0:
				e["valueFrom"] = object{"fieldRef": object{"fieldPath": pick(g, "spec.nodeName", "status.podIP", "metadata.labels['app']", "metadata.name")}}
			case 1:
				e["valueFrom"] = object{"configMapKeyRef": object{"name": "config", "key": "k", "optional": g.yes()}}
			case 2:
				e["valueFrom"] = object{"resourceFieldRef": object{"resource": "limits.cpu", "divisor": "1m"}}
			case 3:
				e["valueFrom"] = object{"secretKeyRef": object{"name": "secret", "key": "k"}}
			default:
				e["value"] = g.text()
			}
			env = append(env, e)
		}
		return env
	})
	g.set(c, "envFrom", func() any {
		return list{object{"prefix": "P_", pick(g, "configMapRef", "secretRef"): object{"name": "secret"}}}
	})
}

// resources draws resources such that those of any two layers go together: no request is above any limit.
func (g gen) resources() object {
	requests, limits := object{}, object{}
	g.set(requests, "cpu", func() any { return pick(g, "100m", "0.25", "500m") })
	g.set(requests, "memory", func() any { return pick(g, "64Mi", "128M", "1e8", "256Mi") })
	g.set(requests, "ephemeral-storage", func() any { return pick(g, "1Gi", "1G") })
	g.set(limits, "cpu", func() any { return pick(g, "0.5", "1", "1500m") })
	g.set(limits, "memory", func() any { return pick(g, "256Mi", "1Gi", "2e9") })
	g.set(limits, "ephemeral-storage", func() any { return pick(g, "1Gi", "20Gi") })
	g.set(limits, "example.com/device", the("1")) // the API server wants the request equal to the limit
	if len(limits) == 0 {
		limits["cpu"] = "1"
	}
	switch {
	case g.yes():
		return object{"limits": limits}
	case g.yes() && len(requests) > 0:
		return object{"requests": requests, "limits": limits}
	}
	short := object{}
	g.set(short, "cpu", the("500m"))
	g.set(short, "ephemeral-storage", the("1Gi"))
	g.set(short, "example.com/device", the("1"))
	short["memory"] = "256Mi"
	return short
}

// volumes adds volumes, each with a mount in the step.
func (g gen) volumes(f, step object, layer string) {
	kinds := object{
		"scratch":   object{"emptyDir": object{"medium": pick(g, "", "Memory"), "sizeLimit": pick(g, "1Gi", "1024Ki", "1.5Gi")}},
		"config":    object{"configMap": object{"name": "config", "defaultMode": pick(g, 0o400, 0o644), "optional": g.yes(), "items": list{object{"key": "k", "path": "p/q"}}}},
		"secret":    object{"secret": object{"secretName": "secret", "items": list{object{"key": "k", "path": "p", "mode": 256}}}},
		"claimed":   object{"persistentVolumeClaim": object{"claimName": "claim", "readOnly": g.yes()}},
		"made":      object{"ephemeral": object{"volumeClaimTemplate": object{"metadata": object{"labels": object{"a": "b"}}, "spec": object{"accessModes": list{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}}}}},
		"projected": object{"projected": object{"sources": list{object{"configMap": object{"name": "config"}}, object{"downwardAPI": object{"items": list{object{"path": "l", "fieldRef": object{"fieldPath": "metadata.labels"}}}}}}}},
		"downward":  object{"downwardAPI": object{"items": list{object{"path": "cpu", "resourceFieldRef": object{"containerName": "step", "resource": "limits.cpu", "divisor": "1"}}}}},
		"csi":       object{"csi": object{"driver": "csi.example.com", "volumeAttributes": object{"a": "b"}}},
		"image":     object{"image": object{"reference": "example.com/data:1", "pullPolicy": "IfNotPresent"}},
	}
	names := []string{"scratch", "config", "secret", "claimed", "made", "projected", "downward", "csi", "image"}
	if g.security == profile.Privileged {
		kinds["host"] = object{"hostPath": object{"path": "/var/lib/x", "type": "DirectoryOrCreate"}}
		names = append(names, "host")
	}
	var volumes, mounts list
	for _, name := range names {
		if !g.rarely() {
			continue
		}
		volume := kinds[name].(object)
		volume["name"] = name + "-" + layer
		mount := object{"name": name + "-" + layer, "mountPath": "/mnt/" + layer + "/" + name}
		g.set(mount, "readOnly", the(true))
		if name != "image" {
			g.set(mount, "subPath", the("sub"))
		}
		volumes, mounts = append(volumes, volume), append(mounts, mount)
	}
	if g.rarely() { // of all layers, so that one replaces the source that another gives
		volume := clone(kinds[pick(g, "scratch", "config", "claimed")]).(object)
		volume["name"] = "shared"
		volumes, mounts = append(volumes, volume), append(mounts, object{"name": "shared", "mountPath": "/mnt/shared"})
	}
	if len(volumes) > 0 {
		f["volumes"], step["volumeMounts"] = volumes, mounts
	}
}

// podFields are those of the pod itself that say nothing of where it may run.
func (g gen) podFields(f object) {
	g.set(f, "terminationGracePeriodSeconds", func() any { return pick(g, 10, 3600) }) // above what hooks sleep
	g.set(f, "securityContext", func() any {
		s := object{"seccompProfile": object{"type": "RuntimeDefault"}}
		g.set(s, "fsGroup", func() any { return pick(g, 1000, 2000) })
		g.set(s, "fsGroupChangePolicy", func() any { return pick(g, "OnRootMismatch", "Always") })
		g.set(s, "runAsUser", the(1000))
		g.set(s, "runAsNonRoot", the(true))
		g.set(s, "supplementalGroups", the(list{4, 5}))
		g.set(s, "supplementalGroupsPolicy", func() any { return pick(g, "Merge", "Strict") })
		g.set(s, "sysctls", the(list{object{"name": "net.ipv4.tcp_syncookies", "value": "1"}}))
		return s
	})
	rest := object{
		"dnsPolicy": pick(g, "ClusterFirst", "Default"), "enableServiceLinks": g.yes(), "hostname": "h", "subdomain": "s",
		"dnsConfig":        object{"nameservers": list{"192.0.2.1"}, "searches": list{"example.com"}, "options": list{object{"name": "ndots", "value": "2"}, object{"name": "edns0"}}},
		"hostAliases":      list{object{"ip": "192.0.2.2", "hostnames": list{"a", "b.c"}}},
		"imagePullSecrets": list{object{"name": "secret"}, object{"name": "sec.ret"}},
		"readinessGates":   list{object{"conditionType": "example.com/ready"}},
		"preemptionPolicy": "PreemptLowerPriority",
	}
	for _, field := range slices.Sorted(maps.Keys(rest)) {
		if g.rarely() {
			f[field] = rest[field]
		}
	}
	if g.rarely() {
		f["resourceClaims"] = list{object{"name": "device", "resourceClaimName": "device"}, object{"name": "templated", "resourceClaimTemplateName": "t"}}
	}
	if g.security == profile.Privileged && g.rarely() {
		f["hostPID"], f["hostIPC"] = g.yes(), g.yes()
	}
}

// placementFields are those of where the pod may run.
func (g gen) placementFields(f object) {
	g.set(f, "nodeSelector", func() any {
		return object{pick(g, "kubernetes.io/os", "node-group", "example.com/disk"): pick(g, "linux", "1.20", "true", "")}
	})
	g.set(f, "tolerations", func() any { return g.tolerations() })
	g.set(f, "affinity", func() any { return g.affinity() })
	g.set(f, "topologySpreadConstraints", func() any {
		var all list
		for _, key := range g.subset("topology.kubernetes.io/zone", "kubernetes.io/hostname") {
			all = append(all, g.spread(key.(string)))
		}
		return all
	})
	g.set(f, "priorityClassName", func() any { return pick(g, g.class, g.otherClass) })
	if g.rarely() {
		f["runtimeClassName"] = g.runtime
	}
}

// tolerations draws some, none of them twice.
func (g gen) tolerations() list {
	var all list
	seen := map[string]bool{}
	for _, t := range some(g, 4, func(int) object { return g.toleration() }) {
		id, _ := placement.PodSpec().Field("tolerations").Identity(t)
		if !seen[id] {
			all = append(all, t)
		}
		seen[id] = true
	}
	return all
}

func (g gen) toleration() object {
	switch g.number(0, 3) {
	case 0:
		return object{"operator": "Exists"}
	case 1:
		t := object{"key": pick(g, "a", "example.com/b"), "operator": "Exists", "effect": "NoExecute"}
		g.set(t, "tolerationSeconds", func() any { return pick(g, 0, 300, -1) })
		return t
	default:
		t := object{"key": pick(g, "a", "example.com/b"), "value": pick(g, "", "x", "1.20")}
		g.set(t, "operator", the("Equal"))
		g.set(t, "effect", func() any { return pick(g, "NoSchedule", "PreferNoSchedule", "NoExecute") })
		return t
	}
}

func (g gen) spread(key string) object {
	s := object{"topologyKey": key, "whenUnsatisfiable": pick(g, "DoNotSchedule", "ScheduleAnyway"), "maxSkew": g.number(1, 5), "labelSelector": g.selector()}
	if s["whenUnsatisfiable"] == "DoNotSchedule" {
		g.set(s, "minDomains", func() any { return g.number(1, 3) })
	}
	g.set(s, "nodeAffinityPolicy", func() any { return pick(g, "Honor", "Ignore") })
	g.set(s, "nodeTaintsPolicy", func() any { return pick(g, "Honor", "Ignore") })
	g.set(s, "matchLabelKeys", the(list{"example.com/owner"}))
	return s
}

func (g gen) selector() object {
	s := object{"matchLabels": object{"app": pick(g, "x", "y")}}
	g.set(s, "matchExpressions", func() any {
		return list{object{"key": "tier", "operator": "NotIn", "values": g.subset("a", "b")}, object{"key": "app", "operator": "Exists"}}
	})
	return s
}

func (g gen) affinity() object {
	node, a := object{}, object{}
	g.set(node, "requiredDuringSchedulingIgnoredDuringExecution", func() any {
		return object{"nodeSelectorTerms": some(g, 2, func(int) any { return g.term() })}
	})
	g.set(node, "preferredDuringSchedulingIgnoredDuringExecution", func() any {
		return some(g, 2, func(int) any { return object{"weight": g.number(1, 100), "preference": g.term()} })
	})
	if len(node) > 0 {
		a["nodeAffinity"] = node
	}
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		pods := object{}
		g.set(pods, "requiredDuringSchedulingIgnoredDuringExecution", func() any { return some(g, 2, func(int) any { return g.podTerm() }) })
		g.set(pods, "preferredDuringSchedulingIgnoredDuringExecution", func() any {
			return some(g, 2, func(int) any { return object{"weight": g.number(1, 100), "podAffinityTerm": g.podTerm()} })
		})
		if len(pods) > 0 {
			a[kind] = pods
		}
	}
	return a
}

// term draws what a node with disk=ssd, cores=16, and nothing else satisfies.
func (g gen) term() object {
	term := object{"matchExpressions": some(g, 3, func(int) any {
		return pick(g,
			object{"key": "disk", "operator": "In", "values": append(list{"ssd"}, g.subset("nvme", "1.20")...)},
			object{"key": "disk", "operator": "NotIn", "values": g.subset("hdd", "tape")},
			object{"key": "disk", "operator": "Exists"},
			object{"key": "cores", "operator": "Gt", "values": list{pick(g, "1", "4")}},
			object{"key": "cores", "operator": "Lt", "values": list{pick(g, "64", "128")}},
			object{"key": "virtual", "operator": "DoesNotExist"})
	})}
	g.set(term, "matchFields", the(list{object{"key": "metadata.name", "operator": "In", "values": list{"node-1"}}}))
	return term
}

func (g gen) podTerm() object {
	t := object{"topologyKey": pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone"), "labelSelector": g.selector()}
	g.set(t, "namespaces", the(list{"a", "b"}))
	g.set(t, "namespaceSelector", func() any { return pick(g, object{}, object{"matchLabels": object{"a": "b"}}) })
	g.set(t, "matchLabelKeys", the(list{"example.com/owner"}))
	return t
}

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
