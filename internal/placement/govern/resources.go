package govern

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
)

// bounds is the most that one step's pod may ask for.
type bounds struct {
	requests, limits []bound // sorted by name
}

type bound struct {
	name corev1.ResourceName
	most resource.Quantity
}

func newBounds(r *fragment.Resources) bounds {
	if r == nil {
		return bounds{}
	}
	read := func(side map[string]string) []bound {
		var all []bound
		for _, name := range sortedKeys(side) {
			most, _ := resource.ParseQuantity(side[name]) // one that can't be read is 0, and lets nothing pass
			all = append(all, bound{corev1.ResourceName(name), most})
		}
		return all
	}
	return bounds{read(r.Requests), read(r.Limits)}
}

// limits holds the pod to the operator's bounds.
func (c composed) limits(b bounds) []finding.Finding {
	if len(b.limits)+len(b.requests) == 0 {
		return nil
	}
	var found []finding.Finding
	above := map[corev1.ResourceName]bool{}
	used := helpers.PodLimits(c.pod, helpers.PodResourcesOptions{})
	for _, bound := range b.limits {
		if sum := used[bound.name]; sum.Cmp(bound.most) > 0 {
			above[bound.name] = true
			found = append(found, c.above("limits", bound, sum))
		}
		found = append(found, c.unlimited(bound)...)
	}
	asked := helpers.PodRequests(c.pod, helpers.PodResourcesOptions{})
	for _, bound := range b.requests {
		if sum := asked[bound.name]; sum.Cmp(bound.most) > 0 && !above[bound.name] {
			found = append(found, c.above("requests", bound, sum))
		}
	}
	return found
}

// above says which numbers make up a sum that is too large.
func (c composed) above(side string, b bound, sum resource.Quantity) finding.Finding {
	var parts, layers []string
	add := func(what string, path placement.Path, list corev1.ResourceList) {
		q, ok := list[b.name]
		if !ok {
			return
		}
		set := c.layers(append(path, placement.Segment{Name: "resources"}, placement.Segment{Name: side}, placement.Segment{Name: string(b.name)}))
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s, %s", what, q.String(), setBy(set))))
		layers = append(layers, set...)
	}
	if r := c.pod.Spec.Resources; r != nil && helpers.IsSupportedPodLevelResource(b.name) {
		add("the pod", nil, sideOf(*r, side))
	}
	for _, n := range c.containers() {
		add(n.Name, n.path, sideOf(n.Resources, side))
	}
	f := finding.Finding{Code: finding.AboveResourceLimits, Severity: finding.Error,
		Message: fmt.Sprintf("the pod's %s of %s come to %s, and %s is the most that resource_limits lets a step have: %s", side, b.name, sum.String(), b.most.String(), strings.Join(parts, "; ")),
		Fix:     "ask for less, all containers of the pod together"}
	path := placement.Path{{Name: "containers"}, {Name: "step", Item: true}, {Name: "resources"}, {Name: side}, {Name: string(b.name)}}
	return c.blame(f, authorsLast(layers), path)
}

// authorsLast gives layers with those last that the author can change.
func authorsLast(layers []string) []string {
	layers = slices.Clone(layers)
	slices.SortStableFunc(layers, func(a, b string) int { return rank(a) - rank(b) })
	return layers
}

func rank(layer string) int {
	switch {
	case layer == placement.Resources.String():
		return 3
	case layer == placement.Overlay.String():
		return 2
	case isOperators(layer):
		return 0
	}
	return 1
}

// unlimited refuses containers that nothing holds to what is bounded. Of other resources than these a
// container without a limit gets none.
func (c composed) unlimited(b bound) []finding.Finding {
	if b.name != corev1.ResourceCPU && b.name != corev1.ResourceMemory && b.name != corev1.ResourceEphemeralStorage {
		return nil
	}
	if r := c.pod.Spec.Resources; r != nil && helpers.IsSupportedPodLevelResource(b.name) {
		if _, ok := r.Limits[b.name]; ok {
			return nil
		}
	}
	var found []finding.Finding
	for _, n := range c.containers() {
		if _, ok := n.Resources.Limits[b.name]; ok {
			continue
		}
		f := finding.Finding{Code: finding.ResourceLimitMissing, Severity: finding.Error,
			Message: fmt.Sprintf("the container %s has no limit of %s, and resource_limits lets a step's pod have %s", n.Name, b.name, b.most.String()),
			Fix:     fmt.Sprintf("give the container %s a limit of %s, up to %s", n.Name, b.name, b.most.String())}
		service := slices.IndexFunc(c.Instance.Services, func(s pipeline.ServiceInstance) bool { return s.Name == n.Name })
		switch {
		case n.Name == "step":
			f.Fix = fmt.Sprintf("write resources: {%s: ...}, up to %s", b.name, b.most.String())
			f = c.found(f, "resources", nil)
		case service >= 0:
			f = c.Instance.At("services").Item(service).Fault(f.Code, f.Fix, "%s", f.Message)
		default:
			layers := c.layers(n.path)
			f.Message += "; it is " + setBy(layers)
			f = c.blame(f, layers, n.path)
		}
		found = append(found, f)
	}
	return found
}

func sideOf(r corev1.ResourceRequirements, side string) corev1.ResourceList {
	if side == "limits" {
		return r.Limits
	}
	return r.Requests
}

// requests compares requests with limits, now that all layers are together, and warns of a pod without any.
func (c composed) requests() []finding.Finding {
	var found []finding.Finding
	asks := false
	check := func(in string, path placement.Path, r corev1.ResourceRequirements) {
		for _, name := range sortedKeys(r.Requests) {
			limit, limited := r.Limits[name]
			switch request := r.Requests[name]; {
			case !limited:
			case whole(name) && request.Cmp(limit) != 0:
				found = append(found, c.crossed(in, path, name, r, "and not the limit of", "write the same number for both: "+string(name)+" can't be shared"))
			case request.Cmp(limit) > 0:
				found = append(found, c.crossed(in, path, name, r, "above the limit of", "lower the request, or raise the limit with it"))
			}
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := r.Requests[name], r.Limits[name] // a limit alone is a request as well
			asks = asks || !request.IsZero() || !limit.IsZero()
		}
	}
	if r := c.pod.Spec.Resources; r != nil {
		check(" of the pod", nil, *r)
	}
	for _, n := range c.containers() {
		in := ""
		if n.Name != "step" {
			in = " of the container " + n.Name
		}
		check(in, n.path, n.Resources)
	}
	if !asks {
		found = append(found, c.Instance.At("resources").Found(finding.BestEffort, finding.Warning, `write resources: {cpu: "1", memory: 1Gi}`,
			"no container asks for cpu or memory: the pod is BestEffort, invisible to the autoscaler's arithmetic and evicted first"))
	}
	return found
}

// crossed is a request that does not go with its limit, with the layers of both.
func (c composed) crossed(in string, path placement.Path, name corev1.ResourceName, r corev1.ResourceRequirements, relation, fix string) finding.Finding {
	request, limit := r.Requests[name], r.Limits[name]
	side := func(side string) placement.Path {
		return append(slices.Clone(path), placement.Segment{Name: "resources"}, placement.Segment{Name: side}, placement.Segment{Name: string(name)})
	}
	asked, bounded := c.layers(side("requests")), c.layers(side("limits"))
	at := side("requests")
	layers := authorsLast(slices.Concat(asked, bounded))
	if !slices.Contains(asked, placement.Overlay.String()) {
		at = side("limits")
	}
	return c.blame(finding.Finding{Code: finding.RequestAboveLimit, Severity: finding.Error,
		Message: fmt.Sprintf("the request of %s%s is %s, %s, %s %s, %s", name, in, request.String(), setBy(asked), relation, limit.String(), setBy(bounded)),
		Fix:     fix}, layers, at)
}
