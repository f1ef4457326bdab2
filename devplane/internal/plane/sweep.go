package plane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/realnode"
)

// Sweep ends and removes whatever is left of an instance: processes, mounts, bridges, cgroups and
// data. Logs stay. It may be called by any process, at any time when no supervisor works, and
// again.
func Sweep(in *instance.Instance) error {
	proc.KillDescendants()
	killMarked(in)
	return errors.Join(realnode.Sweep(in), in.Remove())
}

// killMarked ends what is no descendant of this process: the instance was some dead process's.
func killMarked(in *instance.Instance) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		pids := slices.DeleteFunc(proc.WithEnv(in.Env()), func(pid int) bool { return pid == os.Getpid() })
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond) // a killed process takes a moment to go
	}
}

// SweepDead sweeps what a devplane that was killed together with its guard left in dir.
// It does nothing if one is running there or none ever was.
func SweepDead(dir string) error {
	in, err := instance.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if in.Running() {
		return nil
	}
	return Sweep(in)
}

// Find returns the instance that runs in dir.
func Find(dir string) (*instance.Instance, error) {
	in, err := instance.Load(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !in.Running() {
		return nil, fmt.Errorf("no devplane runs in %s; start one with: devplane up --dir %s", dir, dir)
	}
	return in, err
}
