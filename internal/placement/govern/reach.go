package govern

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/placement"
)

// references gives all that an overlay refers to, and all that it gets at of what the operator's layers refer
// to. final is what all layers come to.
func references(overlay, final map[string]any, origins []placement.Origin) []Reference {
	all := find(nil, placement.PodSpec(), overlay, final)
	r := reach{overlay: overlay, final: final, origins: origins}
	r.containers("containers")
	r.containers("initContainers")
	r.shared()
	r.tokens(all)
	all = append(all, r.all...)
	for i := range all {
		if all[i].Kind == Token {
			all[i].Name = account(final)
		}
	}
	return all
}

// account is the service account that a pod runs as.
func account(pod map[string]any) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := text(pod[field]); name != "" {
			return name
		}
	}
	return "default"
}

// reach finds what an overlay gets at without naming it: a volume that it mounts, a container that it changes.
type reach struct {
	overlay, final map[string]any
	origins        []placement.Origin
	all            []Reference
}

// containers goes through the containers that the overlay says something of. Everything that the operator
// gives to the container step is in the author's hands anyway.
func (r *reach) containers(list string) {
	schema := placement.PodSpec().Field(list)
	written, _ := r.overlay[list].([]any)
	for _, v := range written {
		c := fields(v)
		name := text(c["name"])
		if name == "" || c["$patch"] == "delete" {
			continue
		}
		at := placement.Path{{Name: list}, {Name: name, Item: true}}
		whole := item(schema, r.final[list], name)
		if name != "step" && changes(c) && r.operators(at) {
			r.container(at, at, whole)
		}
		r.claims(at, c)
		for _, mounts := range []string{"volumeDevices", "volumeMounts"} {
			r.mounts(append(at, placement.Segment{Name: mounts}), schema.Field(mounts), c[mounts], whole[mounts])
		}
	}
}

// changes says whether an overlay makes a container do something else, be it by removing a field.
func changes(c map[string]any) bool {
	for _, field := range sortedKeys(c) {
		if field != "name" && field != "resources" {
			return true
		}
	}
	return false
}

// container adds what a container of the final pod has, as being got at from a path of the overlay.
func (r *reach) container(from, at placement.Path, c map[string]any) {
	schema := placement.PodSpec().Field(at[0].Name)
	r.get(from, find(at, schema, c, c))
	for _, mounts := range []string{"volumeDevices", "volumeMounts"} {
		list, _ := c[mounts].([]any)
		for _, m := range list {
			r.part(from, "volumes", text(fields(m)["name"]))
		}
	}
	r.claims(from, c)
}

// claims adds the resource claims of a container, which it has by their names in the pod.
func (r *reach) claims(from placement.Path, c map[string]any) {
	list, _ := fields(c["resources"])["claims"].([]any)
	for _, claim := range list {
		r.part(from, "resourceClaims", text(fields(claim)["name"]))
	}
}

// mounts adds the volumes of the mounts that an overlay has.
func (r *reach) mounts(at placement.Path, s *placement.Schema, written, final any) {
	list, _ := written.([]any)
	for _, v := range list {
		m := fields(v)
		id, missing := s.Identity(m)
		if missing != "" || m["$patch"] == "delete" {
			continue
		}
		name := text(m["name"])
		if name == "" {
			name = text(item(s, final, id)["name"])
		}
		r.part(append(slices.Clone(at), placement.Segment{Name: id, Item: true}), "volumes", name)
	}
}

// part adds what an item of a list of the final pod refers to.
func (r *reach) part(from placement.Path, list, name string) {
	schema := placement.PodSpec().Field(list)
	at := placement.Path{{Name: list}, {Name: name, Item: true}}
	v := item(schema, r.final[list], name)
	r.get(from, find(at, schema, v, v))
}

// shared adds what all containers have, if the overlay lets the step look into their processes.
func (r *reach) shared() {
	for _, field := range []string{"hostPID", "shareProcessNamespace"} {
		if r.overlay[field] != true {
			continue
		}
		for _, list := range []string{"containers", "initContainers"} {
			all, _ := r.final[list].([]any)
			for _, v := range all {
				if name := text(fields(v)["name"]); name != "step" {
					r.container(placement.Path{{Name: field}}, placement.Path{{Name: list}, {Name: name, Item: true}}, fields(v))
				}
			}
		}
	}
}

// get adds what the operator's layers refer to, of what was found in the final pod.
func (r *reach) get(from placement.Path, found []Reference) {
	for _, ref := range found {
		if !r.operators(ref.Path) {
			continue // the overlay's own is found there, and the step's is asked for by the step
		}
		ref.Path, ref.Operators = slices.Clone(from), true
		if !slices.ContainsFunc(r.all, func(o Reference) bool {
			return o.Kind == ref.Kind && o.Name == ref.Name && slices.Equal(o.Path, ref.Path)
		}) {
			r.all = append(r.all, ref)
		}
	}
}

// operators says whether the operator's layers set what is at a path, or something of it.
func (r *reach) operators(path placement.Path) bool {
	return slices.ContainsFunc(r.origins, func(o placement.Origin) bool {
		return (o.Path.Covers(path) || path.Covers(o.Path)) && slices.ContainsFunc(o.Layers, isOperators)
	})
}

func isOperators(layer string) bool {
	return layer == placement.Baseline.String() || strings.HasPrefix(layer, placement.Profile.String()+":")
}

// tokens adds the token that the pod mounts, if the overlay takes away what would keep it from doing so, or
// the account that it is of: without the fields a pod mounts the token of the account default. Accounts and
// tokens that the overlay names are among what was found.
func (r *reach) tokens(found []Reference) {
	isToken := func(ref Reference) bool { return ref.Kind == Token }
	mounts := r.final["automountServiceAccountToken"] != false ||
		slices.ContainsFunc(find(nil, placement.PodSpec(), r.final, nil), isToken)
	if !mounts || slices.ContainsFunc(found, isToken) {
		return
	}
	for _, field := range []string{"automountServiceAccountToken", "serviceAccountName", "serviceAccount"} {
		if v, said := r.overlay[field]; said && (v == nil || v == "") {
			r.all = append(r.all, Reference{Kind: Token, Path: placement.Path{{Name: field}}})
			return
		}
	}
}
