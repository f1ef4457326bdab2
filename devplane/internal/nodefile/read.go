package nodefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Bounds of a node file.
const (
	maxBytes = 1 << 20
	maxNodes = 1000
)

// Default is the file that is used when none is given: one process node that anything may use.
func Default() *File {
	return &File{Pools: []Pool{{Name: "node", Kind: Process, Count: 1}}}
}

// Read reads and checks a node file. The error lists every mistake, a line each, as
// FILE:LINE:COLUMN: what is wrong and what to write.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse is Read for a file's bytes; name is for its messages.
func Parse(name string, data []byte) (*File, error) {
	p := &parser{name: name}
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s: a node file has at most %d bytes", name, maxBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; see examples/acme/nodes.yaml", name)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := d.Decode(&more); err == nil {
		p.errorf(&more, "a second document; a node file has one")
	}
	file := p.file(doc.Content[0])
	return file, p.err()
}

type mistake struct {
	line, column int
	text         string
}

// parser collects mistakes; its methods return what could be read.
type parser struct {
	name     string
	mistakes []mistake
}

func (p *parser) errorf(at *yaml.Node, format string, args ...any) {
	p.mistakes = append(p.mistakes, mistake{at.Line, at.Column, fmt.Sprintf(format, args...)})
}

func (p *parser) err() error {
	slices.SortStableFunc(p.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var errs []error
	for _, m := range p.mistakes {
		errs = append(errs, fmt.Errorf("%s:%d:%d: %s", p.name, m.line, m.column, m.text))
	}
	return errors.Join(errs...)
}

// fields calls set for each key of a mapping. Keys not in known, and keys given twice, are
// mistakes.
func (p *parser) fields(n *yaml.Node, what string, known []string, set func(key string, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		p.errorf(n, "%s is a mapping with the keys %s", what, strings.Join(known, ", "))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case seen[key.Value]:
			p.errorf(key, "%s has %q twice", what, key.Value)
		case known != nil && !slices.Contains(known, key.Value):
			p.errorf(key, "%s has no key %q; the keys are %s", what, key.Value, strings.Join(known, ", "))
		default:
			set(key.Value, value)
		}
		seen[key.Value] = true
	}
}

func (p *parser) file(n *yaml.Node) *File {
	f := &File{}
	version := ""
	var pools *yaml.Node
	p.fields(n, "the node file", []string{"version", "pools"}, func(key string, v *yaml.Node) {
		if key == "version" {
			version = v.Value
		} else {
			pools = v
		}
	})
	if version != "1" {
		p.errorf(n, "write \"version: 1\" at the top; this is the version that devplane reads")
	}
	if pools == nil || pools.Kind != yaml.SequenceNode {
		p.errorf(n, "write \"pools:\" with a list of pools")
		return f
	}
	names := map[string]bool{}
	for _, n := range pools.Content {
		pool := p.pool(n)
		if pool.Name != "" && names[pool.Name] {
			p.errorf(n, "there are two pools %q", pool.Name)
		}
		names[pool.Name] = true
		f.Pools = append(f.Pools, pool)
	}
	total := 0
	for _, pool := range f.Pools {
		total += pool.Count
	}
	if total > maxNodes {
		p.errorf(pools, "%d nodes; a devplane has at most %d", total, maxNodes)
	}
	return f
}

var poolKeys = []string{"name", "kind", "count", "labels", "taints", "capacity", "run_for"}

func (p *parser) pool(n *yaml.Node) Pool {
	pool := Pool{Count: 1}
	var runFor *yaml.Node
	p.fields(n, "a pool", poolKeys, func(key string, v *yaml.Node) {
		switch key {
		case "name":
			pool.Name = p.text(v, "name")
			p.valid(v, "name", pool.Name, validation.IsDNS1123Label(pool.Name))
		case "kind":
			pool.Kind = Kind(p.text(v, "kind"))
			if pool.Kind != Real && pool.Kind != Process && pool.Kind != Scale {
				p.errorf(v, "kind %q; write real, process or scale", pool.Kind)
			}
		case "count":
			count, err := strconv.Atoi(v.Value)
			if err != nil || count < 0 || count > maxNodes {
				p.errorf(v, "count %q; write a whole number from 0 to %d", v.Value, maxNodes)
			} else {
				pool.Count = count
			}
		case "labels":
			pool.Labels = p.labels(v)
		case "taints":
			pool.Taints = p.taints(v)
		case "capacity":
			pool.Capacity = p.capacity(v)
		case "run_for":
			runFor = v
			d, err := time.ParseDuration(v.Value)
			if err != nil || d < 0 {
				p.errorf(v, "run_for %q; write a duration like 1s", v.Value)
			}
			pool.RunFor = d
		}
	})
	if n.Kind == yaml.MappingNode && pool.Name == "" {
		p.errorf(n, "the pool has no name")
	}
	if n.Kind == yaml.MappingNode && pool.Kind == "" {
		p.errorf(n, "the pool has no kind; write real, process or scale")
	}
	if runFor != nil && pool.Kind != Scale {
		p.errorf(runFor, "run_for has no effect on kind %s: only scale nodes complete pods by themselves", pool.Kind)
	}
	return pool
}

func (p *parser) valid(at *yaml.Node, what, value string, problems []string) {
	for _, problem := range problems {
		p.errorf(at, "%s %q: %s", what, value, problem)
	}
}

// text is a scalar that must be a string in YAML: 1.20 and true are something else, and what
// they would become is a guess.
func (p *parser) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		p.errorf(n, "%s must be a string; quote it: %q", what, n.Value)
	}
	return n.Value
}

func (p *parser) labels(n *yaml.Node) map[string]string {
	labels := map[string]string{}
	p.fields(n, "labels", nil, func(key string, v *yaml.Node) {
		labels[key] = p.text(v, "the value of label "+key)
		p.valid(v, "label", key, validation.IsQualifiedName(key))
		p.valid(v, "label value", v.Value, validation.IsValidLabelValue(v.Value))
	})
	return labels
}

func (p *parser) taints(n *yaml.Node) []corev1.Taint {
	if n.Kind != yaml.SequenceNode {
		p.errorf(n, "taints is a list of {key, value, effect}")
		return nil
	}
	var taints []corev1.Taint
	for _, item := range n.Content {
		var t corev1.Taint
		p.fields(item, "a taint", []string{"key", "value", "effect"}, func(key string, v *yaml.Node) {
			s := p.text(v, key)
			switch key {
			case "key":
				t.Key = s
				p.valid(v, "taint key", s, validation.IsQualifiedName(s))
			case "value":
				t.Value = s
				p.valid(v, "taint value", s, validation.IsValidLabelValue(s))
			case "effect":
				t.Effect = corev1.TaintEffect(s)
			}
		})
		switch t.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			p.errorf(item, "taint effect %q; write NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
		}
		if t.Key == "" {
			p.errorf(item, "the taint has no key")
		}
		taints = append(taints, t)
	}
	return taints
}

func (p *parser) capacity(n *yaml.Node) corev1.ResourceList {
	list := corev1.ResourceList{}
	p.fields(n, "capacity", nil, func(key string, v *yaml.Node) {
		q, err := resource.ParseQuantity(v.Value)
		if v.Kind != yaml.ScalarNode || err != nil || q.Sign() < 0 {
			p.errorf(v, "capacity of %s: %q is no quantity; write one like 4, 500m or 16Gi", key, v.Value)
			return
		}
		p.valid(v, "resource", key, validation.IsQualifiedName(key))
		if name := corev1.ResourceName(key); strings.Contains(key, "/") && q.MilliValue()%1000 != 0 {
			p.errorf(v, "capacity of %s: %q; an extended resource is counted in whole numbers", name, v.Value)
		}
		list[corev1.ResourceName(key)] = q
	})
	return list
}
