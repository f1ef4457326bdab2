package realnode

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/pki"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func node(t *testing.T, capacity map[corev1.ResourceName]string) *Node {
	t.Helper()
	ca, err := pki.New(t.TempDir(), "ca")
	if err != nil {
		t.Fatal(err)
	}
	n := nodefile.Node{Name: "real-0", Pool: "real", Capacity: corev1.ResourceList{}}
	for name, q := range capacity {
		n.Capacity[name] = resource.MustParse(q)
	}
	plane := &controlplane.Plane{CA: ca, Config: controlplane.Config{Instance: &instance.Instance{ID: "abcdef", Dir: "/d"}, FeatureGates: "A=true,B=false"}}
	return New(plane, 0, n, "/pause")
}

// What the node file asks for below what the machine has is set aside; what is above is refused.
func TestCapacity(t *testing.T) {
	t.Parallel()
	n := node(t, map[corev1.ResourceName]string{"cpu": "500m", "memory": "1Gi", "pods": "7", "nvidia.com/gpu": "2"})
	cpu := Machine()[corev1.ResourceCPU]
	cpu.Sub(resource.MustParse("500m"))
	if got := n.reserved()["cpu"]; got != cpu.String() {
		t.Errorf("reserved cpu %s; want %s", got, cpu.String())
	}
	// The kubelet takes what it keeps free for evictions from the allocatable by itself.
	memory := Machine()[corev1.ResourceMemory]
	memory.Sub(resource.MustParse("1Gi"))
	memory.Sub(evictionMemory)
	if got := n.reserved()["memory"]; got != memory.String() {
		t.Errorf("reserved memory %s; want %s", got, memory.String())
	}
	if n.maxPods() != 7 {
		t.Errorf("%d pods; want 7", n.maxPods())
	}
	if ext := Extended(n.Capacity); len(ext) != 1 {
		t.Errorf("extended resources %v; want the GPUs alone", ext)
	}
	if err := CheckCapacity(n.Node); err != nil {
		t.Error(err)
	}
	err := CheckCapacity(node(t, map[corev1.ResourceName]string{"cpu": "10k", "memory": "100Ti"}).Node)
	if err == nil || !strings.Contains(err.Error(), "cpu 10k") || !strings.Contains(err.Error(), "memory 100Ti") {
		t.Errorf("error %v; want both resources named", err)
	}
}

func TestKubeletConfig(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(node(t, nil).kubeletConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"anonymous":{"enabled":false}`, `"mode":"Webhook"`, `"featureGates":{"A":true,"B":false}`, `"readOnlyPort":0`} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the configuration lacks %s:\n%s", want, data)
		}
	}
}

// An image is a manifest, a configuration and a layer, each under its digest.
func TestArchive(t *testing.T) {
	t.Parallel()
	img := image{name: "docker.io/a/b:1", files: []file{{path: "bin/sh", mode: 0o755, data: []byte("x")}, {path: "bin/ls", link: "sh"}, {path: "tmp/", mode: 0o1777}}}
	data, err := img.archive()
	if err != nil {
		t.Fatal(err)
	}
	entries := unpack(t, data)
	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(entries["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	m := manifest[0]
	layer := entries[m.Layers[0]]
	if m.RepoTags[0] != img.name || m.Config != sum(entries[m.Config])+".json" || m.Layers[0] != sum(layer)+"/layer.tar" {
		t.Errorf("manifest %+v does not fit its parts", m)
	}
	if files := unpack(t, layer); string(files["bin/sh"]) != "x" || len(files) != 3 {
		t.Errorf("the layer holds %v", files)
	}
	if again, _ := img.archive(); !bytes.Equal(again, data) {
		t.Error("the same image gives other bytes")
	}
}

func unpack(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	entries := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		} else if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries[h.Name] = b
	}
}
