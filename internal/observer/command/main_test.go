package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/berthdev/berth/test/cluster"
)

var shared = cluster.Share("testdata/nodes.yaml")

// TestMain makes this test binary the program, when a script or a test runs it by its name.
func TestMain(m *testing.M) {
	testscript.Main(withCluster{m}, map[string]func(){
		"berth-observer": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// withCluster takes the cluster down that tests have started.
type withCluster struct{ m *testing.M }

func (w withCluster) Run() int { return shared.Main(w.m) }

// The scripts in testdata are the program without a cluster.
func TestScripts(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GOLDEN", filepath.Join(here, "../../../api/observer/v1/golden"))
			e.Setenv("CLUSTER", filepath.Join(here, "../reduce/testdata/cluster.yaml"))
			e.Setenv("SCHEMAS", filepath.Join(here, "../../../api/observer/v1"))
			e.Setenv("KUBECONFIG", filepath.Join(here, "no such file"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits is the command that looks at the exit code.
func exits(s *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		s.Fatalf("write: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	s.Check(err)
	err = s.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	code := 0
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		s.Check(err)
	}
	if code != want {
		s.Fatalf("exit code %d, want %d", code, want)
	}
}
