package local

import (
	"os"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/executortest"
)

func TestMain(m *testing.M) {
	// What a step must not see of its caller.
	os.Setenv("BERTH_TEST_LEAK", "1")
	os.Exit(m.Run())
}

func TestLocal(t *testing.T) {
	executortest.Run(t, executortest.Harness{Fresh: func(t *testing.T) executortest.Open {
		dir, source := t.TempDir(), t.TempDir()
		return func() executor.Executor { return New(Options{Dir: dir, Source: source}) }
	}})
}
