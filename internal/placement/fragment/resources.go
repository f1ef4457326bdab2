package fragment

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// Resources is what a container asks for, by name of the resource. It is written in one of two forms. In
// short, {cpu: "2"} sets request and limit of each named resource to the same number; in full,
// {requests: {...}, limits: {...}} sets exactly what it says.
type Resources struct {
	Requests map[string]string // quantities as they were written
	Limits   map[string]string
	Node     *source.Node // the map that was read
}

var sides = []string{"requests", "limits"}

// FromNode reads either form. A quantity with an expression in it is kept as it is, to be read again once
// the expression is evaluated.
func (r *Resources) FromNode(d *source.Decoding, n *source.Node, path string) {
	if n.Kind != source.Map {
		d.Add(n.Fault(finding.WrongType, path, `write {cpu: "2", memory: 4Gi}, or requests and limits`,
			"%s is %s, and must be a map of resources", path, n.Describe()))
		return
	}
	r.Node = n
	if inFull(n) {
		for _, f := range n.Fields {
			switch f.Name {
			case "requests":
				r.Requests = side(d, f.Value, source.Join(path, f.Name))
			case "limits":
				r.Limits = side(d, f.Value, source.Join(path, f.Name))
			default:
				d.Add(f.Key.Fault(finding.UnknownKey, source.Join(path, f.Name),
					finding.DidYouMean(f.Name, sides, "move "+f.Name+" into requests, limits or both"),
					"%s stands beside requests and limits: resources have either the short form or the long one", f.Name))
			}
		}
	} else {
		r.Requests = side(d, n, path)
		r.Limits = maps.Clone(r.Requests)
	}
	r.compare(d, path)
}

// inFull says whether the long form is meant: a misspelled requests still is.
func inFull(n *source.Node) bool {
	return slices.ContainsFunc(n.Fields, func(f source.Field) bool {
		return slices.Contains(sides, f.Name) || f.Value.Kind == source.Map
	})
}

// side reads the quantities of requests, of limits, or of both.
func side(d *source.Decoding, n *source.Node, path string) map[string]string {
	switch n.Kind {
	case source.Map:
	case source.Null:
		d.Add(n.Fault(finding.WrongType, path, "give it a value, or leave the key out", "%s has no value", path))
		return nil
	default:
		d.Add(n.Fault(finding.WrongType, path, `write {cpu: "2", memory: 4Gi}`, "%s is %s, and must be a map of resources", path, n.Describe()))
		return nil
	}
	side := make(map[string]string, len(n.Fields))
	for _, f := range n.Fields {
		at := source.Join(path, pathKey(f.Name))
		if !isResource(f.Name) {
			d.Add(f.Key.Fault(finding.ValueUnknown, at,
				resourceFix(f.Name),
				"%q is no resource that Kubernetes knows for containers", f.Name))
			continue
		}
		if !isExpression(f.Value) {
			if _, faults := Quantity(f.Value, f.Name, at); len(faults) > 0 {
				d.Add(faults...)
				continue
			}
		}
		side[f.Name] = f.Value.Text
	}
	return side
}

// resourceFix is what to write instead of a name that is no resource.
func resourceFix(name string) string {
	switch name {
	case "gpu", "gpus":
		return "write it as its device plugin calls it, such as nvidia.com/gpu"
	case "disk", "storage":
		return "write ephemeral-storage"
	default:
		return finding.DidYouMean(name, plainResources, "write cpu, memory or ephemeral-storage; others have a domain, as nvidia.com/gpu has")
	}
}

var plainResources = []string{"cpu", "memory", "ephemeral-storage"}

// isResource is what Kubernetes validates, k8s.io/kubernetes/pkg/apis/core/validation: without a domain
// there is a closed list.
func isResource(name string) bool {
	domain, rest, qualified := strings.Cut(name, "/")
	if qualified {
		return domain != "" && rest != ""
	}
	return slices.Contains(plainResources, name) || strings.HasPrefix(name, "hugepages-")
}

// pathKey is a key as a path has it: with a dot in it, it is quoted.
func pathKey(name string) string { return placement.Path{{Name: name}}.String() }

// compare refuses a request above its limit. No layer can mend that: what is wrong is within one.
func (r *Resources) compare(d *source.Decoding, path string) {
	for _, f := range fieldsOf(r.Node.Field("requests")) {
		limit := r.Node.Field("limits").Field(f.Name)
		if r.Requests[f.Name] == "" || limit == nil || r.Limits[f.Name] == "" || isExpression(f.Value) || isExpression(limit) {
			continue
		}
		asked, _ := resource.ParseQuantity(f.Value.Text)
		most, _ := resource.ParseQuantity(limit.Text)
		if asked.Cmp(most) > 0 {
			d.Add(f.Value.Fault(finding.RequestAboveLimit, path+".requests."+pathKey(f.Name), "lower the request, or raise the limit",
				"the request of %s is %s, above its limit of %s in line %d", f.Name, f.Value.Text, limit.Text, limit.Line))
		}
	}
}

// Object gives requests and limits as a container's resources has them.
func (r *Resources) Object() map[string]any {
	object := map[string]any{}
	for name, side := range map[string]map[string]string{"requests": r.Requests, "limits": r.Limits} {
		if len(side) == 0 {
			continue
		}
		values := make(map[string]any, len(side))
		for k, v := range side {
			values[k] = v
		}
		object[name] = values
	}
	return object
}

// Fragment gives the resources of the step's container, as a fragment that says nothing else. It is empty
// if they name nothing, or if r is nil.
func (r *Resources) Fragment() map[string]any {
	if r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return map[string]any{}
	}
	return map[string]any{"containers": []any{map[string]any{"name": "step", "resources": r.Object()}}}
}

// resourcesPath is where Fragment has the resources.
var resourcesPath = placement.MustPath("containers[step].resources")

// Locate says where in its file a path of Fragment was written: at the key, or else where the resources
// are. It is a placement.Locator.
func (r *Resources) Locate(path placement.Path) (file string, line, column int) {
	if r == nil || r.Node == nil {
		return "", 0, 0
	}
	at, value := r.Node, r.Node
	if resourcesPath.Covers(path) {
		path = path[len(resourcesPath):]
		if len(path) > 0 && !inFull(r.Node) {
			path = path[1:] // the short form is both requests and limits
		}
		for _, s := range path {
			key := value.Key(s.Name)
			if key == nil {
				break
			}
			at, value = key, value.Field(s.Name)
		}
	}
	return at.File, at.Line, at.Column
}

// JSONSchema is how an editor checks it.
func (Resources) JSONSchema() map[string]any {
	quantities := func() map[string]any {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	}
	short := quantities()
	short["propertyNames"] = map[string]any{"not": map[string]any{"enum": []any{"requests", "limits"}}}
	return map[string]any{"anyOf": []any{short, map[string]any{
		"type": "object", "additionalProperties": false,
		"properties": map[string]any{"requests": quantities(), "limits": quantities()},
	}}}
}

func fieldsOf(n *source.Node) []source.Field {
	if n == nil {
		return nil
	}
	return n.Fields
}
