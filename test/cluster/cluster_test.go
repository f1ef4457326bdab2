package cluster

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var shared = Share("")

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

func TestNamespaceLastsAsLongAsItsTest(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	name := ""
	t.Run("made", func(t *testing.T) {
		name = c.Namespace(t)
		if other := c.Namespace(t); other == name {
			t.Errorf("two namespaces have the name %s", name)
		}
	})
	ctx := Context(t)
	all := c.Client.CoreV1().Namespaces()
	ns, err := all.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := all.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: ns.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Deleted {
			return
		}
	}
	t.Errorf("namespace %s is not deleted", name)
}

func TestSharedIsOne(t *testing.T) {
	t.Parallel()
	first := shared.Get(t)
	if second := shared.Get(t); first != second {
		t.Error("two clusters")
	}
}

// With BERTH_TEST_KUBECONFIG nothing is started, and what is there stays up.
func TestSharedMayBeThereAlready(t *testing.T) {
	c := shared.Get(t)
	t.Setenv(KubeconfigKey, c.Kubeconfig)
	s := Share("no such file")
	if there := s.Get(t); there.cmd != nil || there.Config.Host != c.Config.Host {
		t.Errorf("another cluster: %s", there.Config.Host)
	}
	s.Get(t).Namespace(t)
}

// A cluster of its own, with nodes from a file, is gone without a trace after its test. What looks for
// traces finds them while it is there.
func TestNewLeavesNothing(t *testing.T) {
	t.Parallel()
	var c *Cluster
	t.Run("while it is there", func(t *testing.T) {
		c = New(t, "testdata/nodes.yaml", "--feature-gates", "ContainerStopSignals=true")
		nodes, err := c.Client.CoreV1().Nodes().List(Context(t), metav1.ListOptions{LabelSelector: "tier=standard"})
		if err != nil || len(nodes.Items) != 3 {
			t.Errorf("%d nodes, %v", len(nodes.Items), err)
		}
		if status := c.Devplane(t, "status"); !strings.Contains(status, "kube-apiserver") {
			t.Errorf("devplane status: %s", status)
		}
		if err := c.leftovers(); err == nil {
			t.Error("a running cluster leaves no trace: the check after its end proves nothing")
		}
	})
	if err := c.leftovers(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder: %v", err)
	}
}

func TestLeftoversAreFound(t *testing.T) {
	t.Parallel()
	c := &Cluster{dir: t.TempDir(), id: "test-" + strings.ReplaceAll(t.TempDir(), "/", "-")}
	if err := c.leftovers(); err != nil {
		t.Fatalf("nothing was left: %v", err)
	}
	if _, err := os.Stat("/proc"); err != nil {
		return // the check is for Linux
	}
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), "MARK="+c.id)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := c.leftovers(); err == nil || !strings.Contains(err.Error(), "process") {
		t.Errorf("a process with the mark was not found: %v", err)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestStartFailsWithDevplanesWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := start(dir, "testdata/invalid.yaml")
	if c != nil || err == nil || !strings.Contains(err.Error(), "invalid.yaml") || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("%v, %v", c, err)
	}
}
