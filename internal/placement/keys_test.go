package placement

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// onPurpose has the lists that Berth does not merge as Kubernetes does, with its key for them (""
// where it replaces the list), and why.
var onPurpose = map[string]struct{ theirs, why string }{
	"tolerations":               {"", "a layer must not lose the toleration without which the pod runs nowhere"},
	"topologySpreadConstraints": {"topologyKey", "validation allows two with one topology key"},
	"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": {"", "to append would weaken each side's demand, to replace would drop one"},
	"affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution":                  {"", "preferences add up"},
	"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution":                    {"", "the items are an AND"},
	"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution":                   {"", "preferences add up"},
	"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution":                {"", "the items are an AND"},
	"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution":               {"", "preferences add up"},
	"containers.ports":          {"containerPort", "validation allows one port with several protocols"},
	"initContainers.ports":      {"containerPort", "as containers"},
	"ephemeralContainers.ports": {"containerPort", "as containers"},
	"volumes.ephemeral.volumeClaimTemplate.metadata.finalizers": {"(values)", "validation forbids them there"},
}

func TestKeysAreThoseOfKubernetes(t *testing.T) {
	theirs := map[string]string{}
	patchKeys(theirs, "", reflect.TypeFor[corev1.PodSpec]())
	if len(theirs) < 70 {
		t.Fatalf("only %d lists found in a PodSpec: the walk is broken", len(theirs))
	}
	ours := map[string]string{}
	for _, row := range lists {
		if row.how == keyed && len(row.keys) == 1 {
			ours[row.path] = row.keys[0].field
		}
		if _, ok := theirs[row.path]; !ok {
			t.Errorf("%s is no list of a PodSpec", row.path)
		}
	}
	for path, key := range theirs {
		exception, ok := onPurpose[path]
		switch {
		case ok && exception.theirs != key:
			t.Errorf("%s: Kubernetes' key is %q now and not %q: is the exception still right? It says: %s", path, key, exception.theirs, exception.why)
		case !ok && ours[path] != key:
			t.Errorf("%s: Kubernetes' key is %q, and ours is %q", path, key, ours[path])
		}
	}
	for path := range onPurpose {
		if _, ok := theirs[path]; !ok {
			t.Errorf("%s is an exception and no list of a PodSpec", path)
		}
	}
}

// patchKeys gives, for each list below a type, the key by which Kubernetes merges it: "" if it
// replaces the list, "(values)" if the items themselves are merged.
func patchKeys(keys map[string]string, path string, typ reflect.Type) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" || name == "managedFields": // which is the API server's
			continue
		case name == "": // inline
			patchKeys(keys, path, f.Type)
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Uint8 {
			keys[at] = f.Tag.Get("patchMergeKey")
			if keys[at] == "" && slices.Contains(strings.Split(f.Tag.Get("patchStrategy"), ","), "merge") {
				keys[at] = "(values)"
			}
		}
		patchKeys(keys, at, f.Type)
	}
}

// Of these types, validation allows one field.
func TestOneOfsAreThoseOfKubernetes(t *testing.T) {
	types := map[string]reflect.Type{
		"containers.env.valueFrom":       reflect.TypeFor[corev1.EnvVarSource](),
		"containers.livenessProbe":       reflect.TypeFor[corev1.ProbeHandler](),
		"initContainers.startupProbe":    reflect.TypeFor[corev1.ProbeHandler](),
		"containers.readinessProbe":      reflect.TypeFor[corev1.ProbeHandler](),
		"containers.lifecycle.preStop":   reflect.TypeFor[corev1.LifecycleHandler](),
		"containers.lifecycle.postStart": reflect.TypeFor[corev1.LifecycleHandler](),
	}
	for _, path := range slices.Sorted(maps.Keys(types)) {
		var members []string
		for _, f := range reflect.VisibleFields(types[path]) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			members = append(members, name)
		}
		slices.Sort(members)
		i := slices.IndexFunc(oneOfs, func(o oneOfRow) bool { return o.path == path })
		if i < 0 || !slices.Equal(oneOfs[i].members, members) {
			t.Errorf("%s: members are %v in Kubernetes", path, members)
		}
	}
	if n := reflect.TypeFor[corev1.EnvVar]().NumField(); n != 3 {
		t.Errorf("an EnvVar has %d fields: are all but the name still a one-of?", n)
	}
	if n := reflect.TypeFor[corev1.PodResourceClaim]().NumField(); n != 3 {
		t.Errorf("a PodResourceClaim has %d fields: are all but the name still a one-of?", n)
	}
	if n := reflect.TypeFor[corev1.Volume]().NumField(); n != 2 {
		t.Errorf("a Volume has %d fields: are all but the name still a one-of?", n)
	}
}
