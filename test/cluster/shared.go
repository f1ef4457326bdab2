package cluster

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared is the cluster that the tests of a package share.
type Shared struct {
	nodes string
	flags []string

	start   sync.Once
	cluster *Cluster
	err     error
}

// Share is a cluster with the nodes of a node file, as New has it, that starts when it is first asked for.
func Share(nodes string, flags ...string) *Shared { return &Shared{nodes: nodes, flags: flags} }

// Get gives the cluster. A test that can't have it fails.
func (s *Shared) Get(t testing.TB) *Cluster {
	t.Helper()
	s.start.Do(func() { s.cluster, s.err = s.begin() })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

func (s *Shared) begin() (*Cluster, error) {
	if path := os.Getenv(KubeconfigKey); path != "" {
		c := &Cluster{Kubeconfig: path}
		if err := c.connect(); err != nil {
			return nil, fmt.Errorf("%s: %w", KubeconfigKey, err)
		}
		return c, nil
	}
	dir, err := os.MkdirTemp("", "berth-cluster-")
	if err != nil {
		return nil, err
	}
	c, err := start(dir, s.nodes, s.flags...)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

// Main runs the tests, and ends the cluster if one was started. It returns what the test binary has to
// exit with: not 0 either if the cluster did not end as it should.
func (s *Shared) Main(m *testing.M) int {
	flag.Parse()
	// A test with a cluster mostly waits for it: the number of processors is no measure of how many
	// may run at once.
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("16")
	}
	code := m.Run()
	if s.cluster == nil || s.cluster.cmd == nil {
		return code
	}
	if err := s.cluster.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}
