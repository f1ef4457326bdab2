package executortest

import (
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Open makes an executor that finds what those have left that Open made before.
type Open func() executor.Executor

// Harness is an implementation, as the suite needs it.
type Harness struct {
	// Fresh gives an Open that begins with nothing, for one test. Tests run at the same time.
	Fresh func(t *testing.T) Open

	Image    string // that has /bin/sh and the usual tools; "": busybox
	Operator string // operator file that plans are made with; "": none

	// Survives says that attempts go on when the executor that started them does not.
	Survives bool
	// Apart says that a workspace is not one folder: steps can't see each other's files in it.
	Apart bool

	// Behave is told what becomes of an attempt, before it is started; nil: the step decides that itself.
	Behave func(run.Ref, Behaviour)
}

// Run holds an implementation to the contract.
func Run(t *testing.T, h Harness) {
	for _, c := range []struct {
		name string
		test func(*fixture)
	}{
		{"success", success},
		{"exit code", exitCode},
		{"outputs", outputs},
		{"outputs at their bound", outputsCut},
		{"a command that does not exist", noCommand},
		{"environment", environment},
		{"dollars stay", dollars},
		{"late texts", lateTexts},
		{"service that never gets ready", unready},

		{"log of what has ended", logEnded},
		{"log that is followed", logFollowed},
		{"no log", noLog},

		{"start twice", startTwice},
		{"start what has ended", startEnded},
		{"stop before it starts", stopFirst},
		{"stop at once", stopAtOnce},
		{"stop what traps SIGTERM", stopTrapping},
		{"stop what ignores SIGTERM", stopIgnoring},
		{"stop twice", stopTwice},
		{"stop another object", stopAnother},
		{"confirm", confirm},

		{"restart while it runs", restartRunning},
		{"restart when it has ended", restartEnded},
		{"restart when it is gone", restartGone},

		{"workspace", workspace},
		{"finish", finish},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, &h)
			c.test(f)
			f.leave()
		})
	}
}
