package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// workspace is the folder that the steps of a run share.
type workspace struct {
	turn chan struct{} // has one while nobody makes it
	made bool          // for whoever's turn it is
}

// The workspace that a run may have. A tree that is larger has something in it that git should ignore.
const (
	mostFiles = 500_000
	mostBytes = 10 << 30
)

// errTooLarge says that a working tree is too large to be copied for each run.
var errTooLarge = errors.New("the git working tree is too large")

// workspaceOf gives the run's workspace, made when the first step wants it: a copy of the git working tree
// that the source lies in, or empty where it lies in none. Where that failed, or was given up since its
// attempt was to end, the next step tries again.
func (e *Executor) workspaceOf(ctx context.Context, id string) (string, error) {
	e.mu.Lock()
	w := e.spaces[id]
	if w == nil {
		w = &workspace{turn: make(chan struct{}, 1)}
		w.turn <- struct{}{}
		e.spaces[id] = w
	}
	e.mu.Unlock()
	select {
	case <-w.turn:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	folder := filepath.Join(e.Dir, id, "workspace")
	if w.made {
		return folder, nil
	}
	if _, err := os.Stat(folder); err != nil { // else a former berth made it, whole since it is renamed into place
		if err := e.copyTree(ctx, folder); err != nil {
			return "", err
		}
	}
	w.made = true
	return folder, nil
}

// copyTree copies what git has of the source's working tree, and what it does not ignore.
func (e *Executor) copyTree(ctx context.Context, folder string) error {
	partial := folder + ".partial"
	if err := removeAll(partial); err != nil {
		return err
	}
	if err := os.MkdirAll(partial, 0o700); err != nil {
		return err
	}
	root, names, err := listed(ctx, e.Source)
	if err != nil {
		return err
	}
	names = outside(e.Dir, root, names)
	if len(names) > mostFiles {
		return fmt.Errorf("%w: it has %d files that git does not ignore, and %d are copied at most", errTooLarge, len(names), mostFiles)
	}
	left := int64(mostBytes)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := copyFile(filepath.Join(root, name), filepath.Join(partial, name), left)
		if err != nil {
			return err
		}
		if left -= n; left < 0 {
			return fmt.Errorf("%w: what git does not ignore of it is over %d GiB", errTooLarge, mostBytes>>30)
		}
	}
	return os.Rename(partial, folder)
}

// copyFile copies a file, or a symbolic link as one, and gives how many bytes those were: at most one more
// than there may be. What was deleted and is still in git's index is left out, and so are submodules and
// repositories inside of the repository, which are folders to git.
func copyFile(from, to string, most int64) (int64, error) {
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case info.Mode().Type() != 0 && info.Mode().Type() != fs.ModeSymlink:
		return 0, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		target, err := os.Readlink(from)
		if err != nil {
			return 0, err
		}
		return 0, os.Symlink(target, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o200)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, most+1))
	return n, errors.Join(err, out.Close())
}
