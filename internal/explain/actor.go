package explain

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/placement"
)

// origin tells who is behind what a pod has, by comparing it with what it was made from.
type origin struct {
	owner   *Owner // nil if it can't be read
	bare    bool   // nobody made the pod from anything
	written bool   // no API server has added anything
	berth   map[string]string
	cut     bool // Berth's annotation names not all paths
}

func (c *Cluster) originOf(p *corev1.Pod) origin {
	o := origin{owner: c.template(p), bare: len(p.OwnerReferences) == 0, written: c.facts.Written || p.UID == ""}
	if note := p.Annotations[AnnotationPlacement]; note != "" {
		o.berth, o.cut = readNote(note)
	}
	return o
}

// readNote gives the layer of each path in the note that Berth puts on its pods: layers, the lowest first,
// each with its paths, where "+N" stands for those that there was no room for.
func readNote(note string) (layers map[string]string, cut bool) {
	layers = map[string]string{}
	d := json.NewDecoder(strings.NewReader(note))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return layers, true
	}
	for d.More() {
		layer, err := d.Token()
		var paths []string
		if err != nil || d.Decode(&paths) != nil {
			return layers, true
		}
		name, _ := layer.(string)
		cut = cut || strings.HasPrefix(name, "+")
		for _, p := range paths {
			if strings.HasPrefix(p, "+") {
				cut = true
				continue
			}
			if lower := layers[p]; lower != "" {
				layers[p] = lower + "+" + name
			} else {
				layers[p] = name
			}
		}
	}
	return layers, cut
}

// of says who has set something. at is where in a fragment of Berth's it is, has says whether what the pod
// was made from has it too.
func (o origin) of(at placement.Path, has func(*corev1.PodSpec) bool) Actor {
	if o.berth != nil {
		return o.layer(at)
	}
	switch {
	case o.owner != nil && has(&o.owner.Template.Spec):
		return Author
	case o.owner != nil:
		return Injected
	case o.bare && o.written:
		return Author
	}
	return Unknown
}

// layer is Berth's layer that has set a path, or what is above or below it.
func (o origin) layer(at placement.Path) Actor {
	path := at.String()
	if name, ok := o.berth[path]; ok {
		return Actor(berthLayer + name)
	}
	for i := len(at) - 1; i > 0; i-- {
		if name, ok := o.berth[at[:i].String()]; ok {
			return Actor(berthLayer + name)
		}
	}
	last := ""
	for p := range o.berth {
		if (strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[")) && p > last {
			last = p
		}
	}
	if last != "" {
		return Actor(berthLayer + o.berth[last])
	}
	return Unknown
}

// field is a path of fields of a fragment.
func field(names ...string) placement.Path {
	p := make(placement.Path, len(names))
	for i, n := range names {
		p[i].Name = n
	}
	return p
}

type segment = placement.Segment
