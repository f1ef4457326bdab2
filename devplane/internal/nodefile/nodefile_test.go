package nodefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestParse(t *testing.T) {
	t.Parallel()
	f, err := Parse("nodes.yaml", []byte(`
version: 1
pools:
- name: gpu
  kind: process
  count: 2
  labels: {kubernetes.io/arch: arm64}
  taints: [{key: workload-type, value: batch, effect: NoSchedule}]
  capacity: {cpu: 8, memory: 16Gi, nvidia.com/gpu: "2"}
- {name: many, kind: scale, count: 1, run_for: 250ms}
`))
	if err != nil {
		t.Fatal(err)
	}
	nodes := f.Nodes()
	if len(nodes) != 3 || nodes[1].Name != "gpu-1" || nodes[2].Name != "many-0" || nodes[2].RunFor != 250*time.Millisecond {
		t.Fatalf("nodes: %+v", nodes)
	}
	gpus := nodes[0].Capacity["nvidia.com/gpu"]
	if gpus.Value() != 2 || nodes[0].Taints[0].Effect != corev1.TaintEffectNoSchedule || nodes[0].Labels["kubernetes.io/arch"] != "arm64" {
		t.Fatalf("gpu-0: %+v", nodes[0])
	}
}

// Every mistake is reported, in the order of the file, and each says where it is and what to do.
func TestMistakesAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse("nodes.yaml", []byte(`version: 2
pools:
- name: Upper
  kind: virtual
  count: -1
  colour: red
  labels: {tier: 1.20, "a b": c}
  taints: [{key: k, effect: Never}, {value: v, effect: NoSchedule}]
  capacity: {memory: 512MB, example.com/gpu: 500m}
- {name: p, kind: process, run_for: 1s}
- {name: p, kind: process, name: p}
`))
	if err == nil {
		t.Fatal("no error")
	}
	got := err.Error()
	want := []string{
		`nodes.yaml:1:1: write "version: 1" at the top`,
		`nodes.yaml:3:9: name "Upper"`,
		`nodes.yaml:4:9: kind "virtual"; write real, process or scale`,
		`nodes.yaml:5:10: count "-1"`,
		`nodes.yaml:6:3: a pool has no key "colour"; the keys are name, kind`,
		`nodes.yaml:7:18: the value of label tier must be a string; quote it: "1.20"`,
		`nodes.yaml:7:31: label "a b"`,
		`nodes.yaml:8:12: taint effect "Never"`,
		`nodes.yaml:8:37: the taint has no key`,
		`nodes.yaml:9:22: capacity of memory: "512MB" is no quantity`,
		`nodes.yaml:9:46: capacity of example.com/gpu: "500m"; an extended resource is counted`,
		`nodes.yaml:10:37: run_for has no effect on kind process`,
		`nodes.yaml:11:3: there are two pools "p"`,
		`nodes.yaml:11:28: a pool has "name" twice`,
	}
	at := 0
	for _, w := range want {
		i := strings.Index(got[at:], w)
		if i < 0 {
			t.Errorf("missing, or out of order: %s\ngot:\n%s", w, got)
			continue
		}
		at += i
	}
	if n := strings.Count(got, "\n") + 1; n != len(want) {
		t.Errorf("%d mistakes reported, %d made:\n%s", n, len(want), got)
	}
}

func TestEmptyAndBroken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[", "version: 1", "a: 1\n---\nb: 2", "- 1", "version: 1\npools: {a: b}"} {
		if _, err := Parse("f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// The examples are node files.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../examples/*/nodes.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example: %v", err)
	}
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(f); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("version: 1\npools:\n- {name: a, kind: process, taints: [{key: k, effect: NoSchedule}]}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err == nil {
			file.Nodes()
		}
	})
}
