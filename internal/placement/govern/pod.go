package govern

import (
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
)

// composed is a step with its pod as Kubernetes' own types have it.
type composed struct {
	*Step
	pod *corev1.Pod
}

// typed gives a fragment as a pod. Fields that the types don't have are not in it.
func typed(fragment map[string]any) (*corev1.Pod, error) {
	metadata, spec := map[string]any{}, make(map[string]any, len(fragment))
	for name, v := range fragment { // into maps: in any order
		if name == "labels" || name == "annotations" {
			metadata[name] = v
		} else {
			spec[name] = v
		}
	}
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": metadata, "spec": spec}, &pod); err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return &pod, nil
}

// named is a container with where it is.
type named struct {
	*corev1.Container
	path placement.Path
}

// containers gives all containers of the pod.
func (c composed) containers() []named {
	var all []named
	for _, list := range []struct {
		name string
		of   []corev1.Container
	}{{"initContainers", c.pod.Spec.InitContainers}, {"containers", c.pod.Spec.Containers}} {
		for i := range list.of {
			all = append(all, named{&list.of[i], placement.Path{{Name: list.name}, {Name: list.of[i].Name, Item: true}}})
		}
	}
	return all
}

// layers gives the layers that set what is at a path.
func (s *Step) layers(path placement.Path) []string {
	for _, o := range s.Origins {
		if slices.Equal(o.Path, path) || len(o.Path) > 0 && o.Path.Covers(path) && !o.Path[len(o.Path)-1].Item {
			return o.Layers
		}
	}
	return nil
}

// blame makes a finding of something that layers set at a path, positioned where the author wrote it, or what
// brought it in.
func (s *Step) blame(f finding.Finding, layers []string, path placement.Path) finding.Finding {
	key := ""
	for _, layer := range layers { // the last one decides
		switch {
		case layer == placement.Overlay.String():
			key = "k8s_overlay"
		case layer == placement.Resources.String():
			key = "resources"
		case strings.HasPrefix(layer, placement.Profile.String()+":"):
			key = "placement_profiles"
		}
	}
	return s.found(f, key, path)
}

// found gives a finding the position of a key of the step, or else of the step itself; under k8s_overlay, of
// the path there.
func (s *Step) found(f finding.Finding, key string, path placement.Path) finding.Finding {
	at := s.Instance.At(key)
	f = at.Found(f.Code, f.Severity, f.Fix, "%s", f.Message)
	f.Path = strings.TrimSuffix(f.Path, ".") // of the step itself
	if key == "k8s_overlay" {
		return s.inOverlay(path, f)
	}
	return f
}

func setBy(layers []string) string {
	if len(layers) == 0 {
		return ""
	}
	return "set by " + strings.Join(layers, " and ")
}
