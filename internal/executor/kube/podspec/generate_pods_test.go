package podspec

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

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
