package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Cluster is a running cluster. Tests may use it at the same time, each in its own namespace.
type Cluster struct {
	Kubeconfig string // the path; of an administrator, if it is a devplane's
	Config     *rest.Config
	Client     kubernetes.Interface

	dir string // of the devplane; empty if the cluster was there already
	id  string // that everything of it on this machine is marked with
	cmd *exec.Cmd
	// lifeline is the devplane's standard input. It ends when this closes, and so when this process
	// is killed.
	lifeline io.Closer
	said     *Output
}

// New starts a cluster for one test, which may do to it what it likes, and ends it after the test. nodes
// is a node file's path (docs/devplane.md), or empty for a single process node; flags are those of
// `devplane up`.
func New(t testing.TB, nodes string, flags ...string) *Cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-cluster-")
	if err != nil {
		t.Fatal(err)
	}
	c, err := start(dir, nodes, flags...)
	if err != nil {
		t.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Fault breaks a part of the cluster; see `devplane fault`.
func (c *Cluster) Fault(args ...string) error {
	_, err := c.devplane(append([]string{"fault"}, args...))
	return err
}

func (c *Cluster) devplane(args []string) (string, error) {
	if c.dir == "" {
		return "", fmt.Errorf("devplane %s: %s names a cluster that is none", strings.Join(args, " "), KubeconfigKey)
	}
	out, err := exec.Command(c.cmd.Path, append(args, "--dir", c.dir)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("devplane %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// Devplane runs another command of the devplane program on the cluster, such as fault, and returns
// what it printed.
func (c *Cluster) Devplane(t testing.TB, args ...string) string {
	t.Helper()
	out, err := c.devplane(args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// start starts a devplane in dir and returns when every node is ready.
func start(dir, nodes string, flags ...string) (*Cluster, error) {
	program, err := devplane()
	if err != nil {
		return nil, err
	}
	args := []string{"up", "--lifeline", "--dir", dir}
	if nodes != "" {
		args = append(args, "--nodes", nodes)
	}
	if CanReal() {
		args = append(args, "--require-real") // process nodes in their place would prove nothing
	}
	cmd := exec.Command(program, append(args, flags...)...)
	c := &Cluster{dir: dir, cmd: cmd, said: &Output{}}
	cmd.Stderr = c.said
	if c.lifeline, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start devplane: %w", err)
	}
	// The kubeconfig's path, and then nothing: it says that the cluster is ready.
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("devplane did not come up: %v\n%s", cmd.Wait(), c.said)
	}
	c.Kubeconfig = strings.TrimSpace(line)
	if err := errors.Join(c.connect(), c.identify()); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// connect makes the clients, with limits that no test can feel.
func (c *Cluster) connect() (err error) {
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	c.Config.QPS, c.Config.Burst = 1000, 2000
	c.Client, err = kubernetes.NewForConfig(c.Config)
	return err
}

// stop cuts the lifeline, waits for the end, and looks at what is left.
func (c *Cluster) stop() error {
	_ = c.lifeline.Close()
	err := c.cmd.Wait()
	if err != nil {
		err = fmt.Errorf("devplane ended: %w\n%s", err, c.said)
	}
	return errors.Join(err, c.leftovers(), os.RemoveAll(c.dir))
}

// Output is a bytes.Buffer that may be read while it is written to.
type Output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
