package govern

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Kind is what is referred to.
type Kind string

const (
	Secret         Kind = "secret"
	ServiceAccount Kind = "service_account"
	Token          Kind = "token" // or a certificate, of the service account that the pod runs as
	Claim          Kind = "claim" // of a volume or of a resource
)

// kinds has what permits each kind, and how it is called.
var kinds = map[Kind]struct {
	code      finding.Code
	what      string
	list      string // of the permits
	permitted func(profile.Permits) []string
}{
	Secret:         {finding.SecretForbidden, "Secret", "secrets", func(p profile.Permits) []string { return p.Secrets }},
	ServiceAccount: {finding.ServiceAccountForbidden, "service account", "service_accounts", func(p profile.Permits) []string { return p.ServiceAccounts }},
	Token:          {finding.TokenForbidden, "token of the service account", "service_accounts", func(p profile.Permits) []string { return p.ServiceAccounts }},
	Claim:          {finding.ClaimForbidden, "claim", "claims", func(p profile.Permits) []string { return p.Claims }},
}

// Reference is something that an overlay refers to by name.
type Reference struct {
	Kind      Kind           `json:"kind"`
	Name      string         `json:"name,omitempty"`      // empty if nothing says it; NAMESPACE/NAME in another namespace, which nothing permits
	Path      placement.Path `json:"path"`                // of the overlay
	Operators bool           `json:"operators,omitempty"` // the operator's layers name it, and the overlay gets at it
}

// kindOf tells by a field's name what its value refers to, so that fields that are not known yet are found as
// well; empty for nothing. Templates are not referred to: claims are made from them.
func kindOf(field string) Kind {
	f := strings.ToLower(field)
	switch {
	case strings.Contains(f, "secret"):
		return Secret
	case strings.Contains(f, "serviceaccounttoken"), strings.Contains(f, "podcertificate"):
		return Token
	case strings.Contains(f, "serviceaccount"):
		return ServiceAccount
	case strings.Contains(f, "template"):
		return ""
	case strings.Contains(f, "claim"), f == "datasource", f == "datasourceref":
		return Claim
	}
	return ""
}

// finder finds references in a fragment. Where that is a layer, it is given what all layers come to as well:
// there is the name of what the layer changes without naming it.
type finder struct {
	path placement.Path
	all  []Reference
}

// find gives the references of what is at a path.
func find(path placement.Path, s *placement.Schema, v, final any) []Reference {
	f := finder{path: slices.Clone(path)}
	f.value(s, v, final)
	return f.all
}

func (f *finder) at(s placement.Segment, do func()) {
	f.path = append(f.path, s)
	do()
	f.path = f.path[:len(f.path)-1]
}

func (f *finder) add(kind Kind, name string) {
	f.all = append(f.all, Reference{Kind: kind, Name: name, Path: slices.Clone(f.path)})
}

func (f *finder) value(s *placement.Schema, v, final any) {
	switch v := v.(type) {
	case map[string]any:
		f.object(s, v, fields(final))
	case []any:
		f.list(s, v, final)
	}
}

func (f *finder) object(s *placement.Schema, o, final map[string]any) {
	if o["$patch"] == "delete" {
		return
	}
	for _, name := range sortedKeys(o) {
		v := o[name]
		if v == nil || strings.HasPrefix(name, "$") {
			continue
		}
		f.at(placement.Segment{Name: name}, func() {
			f.named(name, v, final[name])
			if !isPlain(name, v) {
				f.value(s.Field(name), v, final[name])
			}
		})
	}
}

func (f *finder) list(s *placement.Schema, list []any, final any) {
	items := itemsOf(s, final)
	for i, v := range list {
		o, ok := v.(map[string]any)
		if !ok {
			continue
		}
		id, beneath := strconv.Itoa(i), map[string]any(nil)
		if s.Keyed() {
			if key, missing := s.Identity(o); missing == "" {
				id, beneath = key, items[key]
			}
		}
		f.at(placement.Segment{Name: id, Item: true}, func() { f.object(s, o, beneath) })
	}
}

// named adds what the value of a field refers to by itself; what is in it is for its own fields to say.
func (f *finder) named(name string, v, final any) {
	kind := kindOf(name)
	switch o, isObject := v.(map[string]any); {
	case name == "volumeName" && f.inClaim():
		kind = Claim // it binds the new claim to a volume that is there
	case kind == "" && isObject:
		kind = kindOf(text(o["kind"])) // a reference to an object of any kind
	case kind == "" || name == "claims" || name == "resourceClaims":
		return // the names of those are names within the pod
	}
	switch v := v.(type) {
	case string:
		f.add(kind, v)
	case bool:
		if kind == Token && v {
			f.add(kind, "")
		}
	case map[string]any:
		f.namedObject(kind, v, fields(final))
	case []any:
		f.namedList(kind, v)
	}
}

func (f *finder) namedObject(kind Kind, o, final map[string]any) {
	switch {
	case kind == "" || o["$patch"] == "delete":
	case kind == Token:
		f.add(kind, "")
	case text(o["name"]) != "":
		f.add(kind, qualified(o))
	case slices.ContainsFunc(sortedKeys(o), func(field string) bool { return kindOf(field) == kind && text(o[field]) != "" }):
		// secretName and claimName are found by themselves
	case text(final["name"]) != "":
		f.add(kind, qualified(final))
	default:
		for _, field := range sortedKeys(final) {
			if kindOf(field) == kind && text(final[field]) != "" {
				f.add(kind, text(final[field]))
				return
			}
		}
		f.add(kind, "")
	}
}

func (f *finder) namedList(kind Kind, list []any) {
	for i, v := range list {
		f.at(placement.Segment{Name: strconv.Itoa(i), Item: true}, func() {
			switch v := v.(type) {
			case string:
				f.add(kind, v)
			case map[string]any:
				if len(v) > 1 || v["$patch"] == nil { // else it is said of the list
					if name := text(v["name"]); name != "" {
						f.path[len(f.path)-1].Name = name
					}
					f.namedObject(kind, v, nil)
				}
			}
		})
	}
}

// inClaim says whether the path leads into the template of a claim.
func (f *finder) inClaim() bool {
	return slices.Contains(f.path, placement.Segment{Name: "volumeClaimTemplate"})
}

// plain has the maps whose keys are the author's own words, not fields.
var plain = []string{"annotations", "labels", "limits", "matchLabels", "nodeSelector", "overhead", "requests"}

// isPlain says whether a value is such a map: one with anything but scalars in it is none.
func isPlain(name string, v any) bool {
	o, ok := v.(map[string]any)
	if !ok || !slices.Contains(plain, name) {
		return false
	}
	for _, v := range o {
		switch v.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

// qualified is the name in an object that refers to another one.
func qualified(o map[string]any) string {
	if namespace := text(o["namespace"]); namespace != "" {
		return namespace + "/" + text(o["name"])
	}
	return text(o["name"])
}

// item gives the item of a keyed list that has the key, nil if none has.
func item(s *placement.Schema, list any, key string) map[string]any {
	all, _ := list.([]any)
	for _, v := range all {
		if o, ok := v.(map[string]any); ok {
			if id, missing := s.Identity(o); missing == "" && id == key {
				return o
			}
		}
	}
	return nil
}

// itemsOf gives the items of a keyed list by their keys.
func itemsOf(s *placement.Schema, list any) map[string]map[string]any {
	all, _ := list.([]any)
	if !s.Keyed() || len(all) == 0 {
		return nil
	}
	items := make(map[string]map[string]any, len(all))
	for _, v := range all {
		if o, ok := v.(map[string]any); ok {
			if id, missing := s.Identity(o); missing == "" {
				items[id] = o
			}
		}
	}
	return items
}

func fields(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func sortedKeys[M ~map[K]V, K cmp.Ordered, V any](m M) []K { return slices.Sorted(maps.Keys(m)) }
