// Package devplanetest starts devplanes for tests and waits for what happens on them.
//
// A devplane started here ends with the test binary however that ends: it holds the other end of
// the devplane's lifeline. Waiting is done by watching, never by sleeping.
package devplanetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// BinaryKey is the environment variable that names the devplane binary to test.
const BinaryKey = "BERTH_DEVPLANE"

// Binary finds the devplane binary: the one that BERTH_DEVPLANE names, else it is built.
var Binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(BinaryKey); path != "" {
		return path, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./build")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build devplane: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "devplane"), nil
})

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, e := os.Stat(filepath.Join(dir, "go.mod")); e == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not inside the devplane module")
		}
	}
	return "", err
}

// CanReal reports whether this machine must have real nodes: it is Linux, and the tests run as
// root. Elsewhere what needs one is left out, and only there.
func CanReal() bool { return runtime.GOOS == "linux" && os.Geteuid() == 0 }

// NeedReal leaves a test out where there are no real nodes.
func NeedReal(t testing.TB) {
	t.Helper()
	if !CanReal() {
		t.Skip("real nodes need root on Linux")
	}
}

// Kinds are the kinds of node that run containers here.
func Kinds() []string {
	if CanReal() {
		return []string{"real", "process"}
	}
	return []string{"process"}
}

// Cluster is a running devplane.
type Cluster struct {
	Dir    string
	Config *rest.Config
	Client kubernetes.Interface
	// Said is what the devplane printed on standard error so far.
	Said func() string

	Cmd      *exec.Cmd
	lifeline io.Closer
	done     chan struct{}
	err      error
}

// buffer is a bytes.Buffer that may be read while it is written to.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts a devplane in dir with a node file's text and further flags of `devplane up`, and
// returns when it is ready.
func Start(dir, nodes string, flags ...string) (*Cluster, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "nodes-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(nodes); err != nil {
		return nil, err
	}
	file.Close()
	args := []string{"up", "--lifeline", "--dir", dir, "--nodes", file.Name()}
	if CanReal() {
		args = append(args, "--require-real") // process nodes in their place would prove nothing
	}
	cmd := exec.Command(binary, append(args, flags...)...)
	return StartCommand(cmd, dir)
}

// StartCommand is Start for a command that the caller made; it must be a `devplane up`. If it has
// a standard error, that gets the progress too.
func StartCommand(cmd *exec.Cmd, dir string) (*Cluster, error) {
	said, shown := &buffer{}, cmd.Stderr != nil
	if shown {
		cmd.Stderr = io.MultiWriter(cmd.Stderr, said)
	} else {
		cmd.Stderr = said
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Cmd: cmd, Said: said.String, lifeline: stdin, done: make(chan struct{})}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	if err != nil {
		<-c.done
		switch {
		case c.err == nil:
			return nil, errors.New("devplane up was stopped before it was ready")
		case shown:
			return nil, fmt.Errorf("devplane up: %w", c.err)
		}
		return nil, fmt.Errorf("devplane up: %w\n%s", c.err, said)
	}
	c.Config, err = clientcmd.BuildConfigFromFlags("", strings.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	c.Config.QPS, c.Config.Burst = 1000, 2000
	c.Client, err = kubernetes.NewForConfig(c.Config)
	return c, err
}

// Done is closed when `devplane up` has ended.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err is how `devplane up` ended. Valid after Done.
func (c *Cluster) Err() error { return c.err }

// Stop cuts the lifeline and waits for the end.
func (c *Cluster) Stop() error {
	_ = c.lifeline.Close()
	<-c.done
	if c.err != nil {
		return fmt.Errorf("devplane ended: %w\n%s", c.err, c.Said())
	}
	return nil
}

// Devplane runs a command of the devplane binary on this cluster.
func (c *Cluster) Devplane(args ...string) (string, error) {
	binary, err := Binary()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(binary, append(args, "--dir", c.Dir)...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("devplane %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// Main runs a test binary on one devplane, which it starts before and stops after.
func Main(m *testing.M, cluster **Cluster, nodes string, flags ...string) {
	flag.Parse()
	// A test here mostly waits for a cluster: the number of processors is no measure of how many
	// may run at once.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("16")
	}
	code, err := func() (int, error) {
		dir, err := os.MkdirTemp("", "devplane-")
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		c, err := Start(dir, nodes, flags...)
		if err != nil {
			return 0, err
		}
		*cluster = c
		fmt.Fprint(os.Stderr, c.Said()) // how long the start took
		code := m.Run()
		return code, c.Stop()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Limit bounds every wait of a test. It is not an expectation: it is how long until a wait that
// will never end is reported.
const Limit = 1 * time.Minute

// Context is a context that ends with the test or at Limit.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, fmt.Errorf("waited for %s", Limit))
	t.Cleanup(cancel)
	return ctx
}

// Namespace makes a namespace for a test and waits until pods can be created in it.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	ctx := Context(t)
	ns, err := c.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		zero := int64(0)
		// Pods first and at once: a namespace's own deletion waits for their grace.
		_ = c.Client.CoreV1().Pods(ns.Name).DeleteCollection(context.Background(), metav1.DeleteOptions{GracePeriodSeconds: &zero}, metav1.ListOptions{})
		_ = c.Client.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{})
	})
	c.waitServiceAccount(ctx, t, ns.Name)
	return ns.Name
}
