package govern

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/finding"
)

// malformed refuses what no API server takes, and what only the layers together come to: two containers
// with one name, and one without an image. The step's own image is looked at elsewhere.
func (c composed) malformed() []finding.Finding {
	var found []finding.Finding
	seen := map[string]bool{}
	for _, n := range c.containers() {
		layers := c.layers(n.path)
		fault := func(fix, format string, args ...any) {
			found = append(found, c.blame(finding.Finding{Code: finding.PodMalformed, Severity: finding.Error,
				Message: fmt.Sprintf(format, args...) + ", " + setBy(layers), Fix: fix}, layers, n.path))
		}
		if seen[n.Name] {
			fault("choose another name", "two containers of the pod are called %s: this one is %s", n.Name, n.path)
		}
		seen[n.Name] = true
		if n.Image == "" && n.Name != "step" {
			fault("add image, or correct the name if another container is meant", "the container %s has no image", n.path)
		}
	}
	return found
}

// whole says whether a resource can't be shared: its request is its limit, as the API server demands
// (core/validation: extended resources and huge pages).
func whole(name corev1.ResourceName) bool {
	domain, _, extended := strings.Cut(string(name), "/")
	return extended && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
