package plane

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/realnode"
)

// Sweep ends and removes whatever is left of an instance: processes, mounts, bridges, cgroups and
// data. Logs stay. It may be called by any process, at any time when no supervisor works, and
// again.
func Sweep(in *instance.Instance) error {
	proc.KillDescendants()
	// What is no descendant of this process: the instance was some dead process's.
	proc.KillAll(func() []int { return proc.WithEnv(in.Env()) })
	// What could not be unmounted must not be removed: it may be somebody's volume.
	if err := realnode.Sweep(in); err != nil {
		return err
	}
	return in.Remove()
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
	release, err := in.Seize()
	if err != nil {
		return nil // one runs there
	}
	defer release()
	if in, err = instance.Load(dir); err != nil { // nobody can change it now
		return err
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
