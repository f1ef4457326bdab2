package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func create(t *testing.T, dir string) *Instance {
	t.Helper()
	in, err := Create(dir, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.release()
		if err := in.Remove(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// release does what the end of the process does.
func (in *Instance) release() {
	in.lock.Close()
	in.slot.Close()
}

func TestTwoShareNothing(t *testing.T) {
	t.Parallel()
	a, b := create(t, t.TempDir()), create(t, t.TempDir())
	if a.ID == b.ID || a.Slot == b.Slot || a.RunDir() == b.RunDir() || a.NodesDir() == b.NodesDir() {
		t.Errorf("%+v and %+v share something", a, b)
	}
	ports := map[int]bool{}
	for _, in := range []*Instance{a, b} {
		for _, p := range []int{in.APIServer(), in.Etcd(), in.EtcdPeer()} {
			if ports[p] || p < firstPort || p >= 32768 {
				t.Errorf("port %d is shared, or the kernel's to give away", p)
			}
			ports[p] = true
		}
	}
}

func TestOneFolderOneInstance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := create(t, dir)
	if !in.Running() {
		t.Error("not running")
	}
	if _, err := Create(dir, "v"); err == nil || !strings.Contains(err.Error(), "devplane down --dir "+dir) {
		t.Errorf("a second one: %v", err)
	}
	loaded, err := Load(dir)
	if err != nil || loaded.ID != in.ID || loaded.Slot != in.Slot || loaded.Version != "v1.2.3" {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	in.release()
	if loaded.Running() {
		t.Error("running after its end")
	}
	create(t, dir) // free again
}

func TestRemoveKeepsLogs(t *testing.T) {
	t.Parallel()
	in := create(t, t.TempDir())
	for _, f := range []string{"logs/a.log", "kubeconfig", "pki/ca.crt"} {
		if err := os.WriteFile(in.Path(f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(in.Path("logs/a.log")); err != nil {
		t.Error(err)
	}
	for _, f := range []string{in.Path("kubeconfig"), in.Path("pki"), in.RunDir(), in.NodesDir()} {
		if _, err := os.Stat(f); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", f)
		}
	}
}

func TestForeignFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, "v"); err == nil || !strings.Contains(err.Error(), "thesis") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("load: %v", err)
	}
}

// Names of network devices have at most 15 characters, and addresses of two nodes are apart.
func TestNames(t *testing.T) {
	t.Parallel()
	in := &Instance{ID: "abcdef", Slot: 199}
	seen := map[string]bool{}
	for i := range MaxRealNodes() {
		if b := in.Bridge(i); len(b) > 15 {
			t.Errorf("bridge %q is too long a name", b)
		}
		seen[in.PodSubnet(i)], seen[in.NodeAddress(i)] = true, true
	}
	if len(seen) != 2*MaxRealNodes() {
		t.Errorf("addresses are shared: %v", seen)
	}
	if len(in.Socket()) > 100 {
		t.Errorf("socket %q is too long a path", in.Socket())
	}
}

// What a marker says is what will be removed: one that devplane can't have written is refused.
func TestForeignMarker(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{}", `{"id":"/../../etc"}`, `{"id":"abcdef","slot":-1}`, `{"id":"ABCDEF"}`, "[", ""} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, marker), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: loaded (%v)", text, err)
		}
		if _, err := Create(dir, "v"); err == nil {
			t.Errorf("%s: taken over", text)
		}
	}
}

// Asking whether one runs does not look like one that runs.
func TestAskingIsNoLock(t *testing.T) {
	t.Parallel()
	in := create(t, t.TempDir())
	in.lock.Close()
	for range 100 {
		done := make(chan bool, 2)
		for range 2 {
			go func() { done <- in.Running() }()
		}
		if a, b := <-done, <-done; a || b {
			t.Fatal("two who asked saw each other")
		}
	}
	release, err := in.Seize()
	if err != nil {
		t.Fatal(err)
	}
	if !in.Running() {
		t.Error("a folder that was seized is free")
	}
	release()
}
