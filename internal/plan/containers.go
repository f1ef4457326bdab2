package plan

import "maps"

// eachContainer gives the fragment again with its containers changed, without writing to it. change gets a
// copy of the container, and says whether it changed it.
func eachContainer(f map[string]any, change func(container object) bool) map[string]any {
	out := f
	cloned := false
	for _, name := range []string{"containers", "initContainers"} {
		list, ok := f[name].([]any)
		if !ok {
			continue
		}
		var changed []any
		for i, e := range list {
			c, ok := e.(map[string]any)
			if !ok {
				continue
			}
			c = maps.Clone(c)
			if !change(c) {
				continue
			}
			if changed == nil {
				changed = append(changed, list...)
			}
			changed[i] = c
		}
		if changed == nil {
			continue
		}
		if !cloned {
			out, cloned = maps.Clone(f), true
		}
		out[name] = changed
	}
	return out
}

// escalating lets a layer that makes a container privileged, or gives it CAP_SYS_ADMIN, take
// allowPrivilegeEscalation with it: Kubernetes refuses the one without the other, and Berth's own default
// is below.
func escalating(f map[string]any) map[string]any {
	return eachContainer(f, func(c object) bool {
		security, _ := c["securityContext"].(map[string]any)
		if _, said := security["allowPrivilegeEscalation"]; said || security == nil {
			return false
		}
		if security["privileged"] != true && !addsAdmin(security) {
			return false
		}
		security = maps.Clone(security)
		security["allowPrivilegeEscalation"] = true
		c["securityContext"] = security
		return true
	})
}

func addsAdmin(security object) bool {
	capabilities, _ := security["capabilities"].(map[string]any)
	added, _ := capabilities["add"].([]any)
	for _, c := range added {
		if c == "SYS_ADMIN" || c == "CAP_SYS_ADMIN" {
			return true
		}
	}
	return false
}

// literalFragment is an author's fragment with what the kubelet would expand written so that it does not.
func literalFragment(f map[string]any) map[string]any {
	return eachContainer(f, func(c object) bool {
		changed := false
		for _, name := range []string{"command", "args"} {
			if list, ok := literalList(c[name]); ok {
				c[name], changed = list, true
			}
		}
		if env, ok := literalEnv(c["env"]); ok {
			c["env"], changed = env, true
		}
		for _, name := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
			probe, _ := c[name].(map[string]any)
			exec, _ := probe["exec"].(map[string]any)
			if list, ok := literalList(exec["command"]); ok {
				probe, exec = maps.Clone(probe), maps.Clone(exec)
				exec["command"], probe["exec"] = list, exec
				c[name], changed = probe, true
			}
		}
		return changed
	})
}

// literalList says whether there is anything to change.
func literalList(v any) ([]any, bool) {
	list, _ := v.([]any)
	var out []any
	for i, e := range list {
		text, ok := e.(string)
		if !ok || Literal(text) == text {
			continue
		}
		if out == nil {
			out = append(out, list...)
		}
		out[i] = Literal(text)
	}
	return out, out != nil
}

func literalEnv(v any) ([]any, bool) {
	list, _ := v.([]any)
	var out []any
	for i, e := range list {
		entry, _ := e.(map[string]any)
		text, ok := entry["value"].(string)
		if !ok || Literal(text) == text {
			continue
		}
		if out == nil {
			out = append(out, list...)
		}
		entry = maps.Clone(entry)
		entry["value"] = Literal(text)
		out[i] = entry
	}
	return out, out != nil
}
