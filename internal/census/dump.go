package census

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/explain"
)

// header is the first object of a dump: which resources were read, so that an empty one is known to be empty,
// and which could not be.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Read            []string                `json:"read"`
	NotRead         []explain.Unread        `json:"unread"`
	Owners          []*explain.Owner        `json:"owners"`
	Groups          []explain.Group         `json:"groups"`
	Pools           []*explain.Pool         `json:"pools"`
	PoolClaims      []*explain.Claim        `json:"poolClaims"`
	RuntimeClasses  []*explain.RuntimeClass `json:"runtimeClasses"`
}

// header takes what a dump says about itself.
func (c *Census) header(h *header) {
	for _, resource := range h.Read {
		c.read[resource] = true
	}
	c.facts.Unread = append(c.facts.Unread, h.NotRead...)
	c.facts.Owners = append(c.facts.Owners, h.Owners...)
	c.facts.Groups = append(c.facts.Groups, h.Groups...)
	c.facts.NodePools = append(c.facts.NodePools, h.Pools...)
	c.facts.NodeClaims = append(c.facts.NodeClaims, h.PoolClaims...)
	c.facts.RuntimeClasses = append(c.facts.RuntimeClasses, h.RuntimeClasses...)
	c.cluster = true
}

// Dump writes everything that is kept as a list in JSON, one object a line, which Split reads.
func (c *Census) Dump(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<20)
	f := c.Facts()
	h := header{TypeMeta: metav1.TypeMeta{APIVersion: "berth.dev/v1", Kind: "Census"}, Read: slices.Sorted(maps.Keys(c.read)), NotRead: f.Unread,
		Owners: f.Owners, Groups: f.Groups, Pools: f.NodePools, PoolClaims: f.NodeClaims, RuntimeClasses: f.RuntimeClasses}
	d := &dumper{b: b}
	_, d.err = b.WriteString("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n")
	d.write(h)
	each(d, f.Nodes, "v1", "Node")
	each(d, f.Namespaces, "v1", "Namespace")
	each(d, f.Claims, "v1", "PersistentVolumeClaim")
	each(d, f.Volumes, "v1", "PersistentVolume")
	each(d, f.Classes, "storage.k8s.io/v1", "StorageClass")
	each(d, f.CSINodes, "storage.k8s.io/v1", "CSINode")
	each(d, f.CSIDrivers, "storage.k8s.io/v1", "CSIDriver")
	each(d, f.Attachments, "storage.k8s.io/v1", "VolumeAttachment")
	each(d, f.Capacities, "storage.k8s.io/v1", "CSIStorageCapacity")
	each(d, f.Budgets, "policy/v1", "PodDisruptionBudget")
	each(d, f.Pods, "v1", "Pod")
	if d.err != nil {
		return d.err
	}
	if _, err := b.WriteString("\n]}\n"); err != nil {
		return err
	}
	return b.Flush()
}

type dumper struct {
	b    *bufio.Writer
	some bool
	err  error
}

func (d *dumper) write(v any) {
	if d.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		d.err = err
		return
	}
	if d.some {
		_, _ = d.b.WriteString(",\n")
	}
	d.some = true
	_, d.err = d.b.Write(text)
}

// each writes objects with their kind, which typed objects have lost.
func each[T any](d *dumper, all []*T, apiVersion, kind string) {
	for _, o := range all {
		v := reflect.New(reflect.TypeOf(*o))
		v.Elem().Set(reflect.ValueOf(*o))
		v.Elem().FieldByName("TypeMeta").Set(reflect.ValueOf(metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}))
		d.write(v.Interface())
	}
}
