package reduce_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/manifest"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// now is when the payloads of these tests were captured.
var now = time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)

// read reads manifests that have no mistakes.
func read(t testing.TB, name, text string) *manifest.Objects {
	t.Helper()
	o := &manifest.Objects{}
	if err := o.Read(name, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if o.Findings.Len() > 0 {
		t.Fatal(o.Findings.Text(map[string]string{name: text}))
	}
	return o
}

func readFile(t testing.TB, name string) *manifest.Objects {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, name, string(text))
}

// known is what there is to know of the objects.
func known(o *manifest.Objects) reduce.Cluster {
	var pods []*reduce.Pod
	for _, p := range o.Pods {
		pods = append(pods, reduce.OfPod(p, reduce.Bounds{}))
	}
	var nodes []*reduce.Node
	for _, n := range o.Nodes {
		nodes = append(nodes, reduce.OfNode(n, reduce.Bounds{}))
	}
	owners, namespaces := map[string]*reduce.Object{}, map[string]*reduce.Object{}
	for _, m := range o.Metadata {
		made := reduce.OfObject(m.Kind, m)
		if m.Kind == "Namespace" {
			namespaces[m.Name] = made
		} else {
			owners[made.UID] = made
		}
	}
	return reduce.Cluster{
		Pods: slices.Values(pods), Nodes: slices.Values(nodes), NamespacesKnown: len(namespaces) > 0,
		Owner:     func(uid string) *reduce.Object { return owners[uid] },
		Namespace: func(name string) *reduce.Object { return namespaces[name] },
	}
}

// ofPods is a cluster of pods alone.
func ofPods(pods ...*corev1.Pod) reduce.Cluster { return known(&manifest.Objects{Pods: pods}) }

func workloads(t testing.TB, v *reduce.View) []byte {
	t.Helper()
	var b bytes.Buffer
	e := observer.NewEnvelope(observer.KindWorkloads, "6f1c7e0a-0000-4000-8000-000000000001", now)
	if err := observer.WriteWorkloads(&b, e, v.EachRecord()); err != nil {
		t.Fatal(err)
	}
	valid(t, observer.KindWorkloads, b.Bytes())
	return b.Bytes()
}

// schemas are those of the payloads.
var schemas = map[string]func() (*jsonschema.Schema, error){
	observer.KindWorkloads: sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(observer.KindWorkloads) }),
	observer.KindNodes:     sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(observer.KindNodes) }),
}

func compile(kind string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(observer.JSONSchema(kind)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(kind, doc); err != nil {
		return nil, err
	}
	return c.Compile(kind)
}

// valid holds each payload of these tests to its schema.
func valid(t testing.TB, kind string, payload []byte) {
	t.Helper()
	schema, err := schemas[kind]()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, payload)
	}
}

func nodes(t testing.TB, v *reduce.View) []byte {
	t.Helper()
	var b bytes.Buffer
	e := observer.NewEnvelope(observer.KindNodes, "6f1c7e0a-0000-4000-8000-000000000001", now)
	if err := observer.WriteNodes(&b, e, v.EachNode()); err != nil {
		t.Fatal(err)
	}
	valid(t, observer.KindNodes, b.Bytes())
	return b.Bytes()
}
