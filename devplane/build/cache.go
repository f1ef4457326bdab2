package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cache is the folder that holds one folder per key. A folder there is whole: it was given its
// name when everything was in it.
type cache string

const (
	kept       = 3 // folders, the last used
	tempPrefix = "tmp-"
)

func openCache(getenv func(string) string) (cache, error) {
	dir := getenv("BERTH_CACHE")
	if dir == "" {
		base := getenv("XDG_CACHE_HOME")
		if base == "" {
			if getenv("HOME") == "" {
				return "", errors.New("no folder to keep what is built: set BERTH_CACHE, or HOME")
			}
			base = filepath.Join(getenv("HOME"), ".cache")
		}
		dir = filepath.Join(base, "berth")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "devplane"))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return "", unwritable(err)
	}
	return cache(dir), nil
}

func (c cache) entry(key string) string { return filepath.Join(string(c), key) }

func unwritable(err error) error {
	return fmt.Errorf("can't keep what is built: %w; set BERTH_CACHE to a folder that can be written", err)
}

// complete says whether all programs are in dir.
func complete(dir string) bool {
	for _, p := range programs {
		info, err := os.Stat(filepath.Join(dir, p.name))
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return false
		}
	}
	return true
}

// touch notes that dir was used now. In a cache that can only be read there is nothing to note.
func touch(dir string) {
	now := time.Now()
	_ = os.Chtimes(dir, now, now)
}

// lock waits for its turn to build. The system frees the lock when its holder ends, however it ends.
func (c cache) lock(ctx context.Context, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(c.entry("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, unwritable(err)
	}
	for first := true; ; first = false {
		switch locked, err := tryLock(f); {
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
		case locked:
			return func() { f.Close() }, nil
		case first:
			waiting()
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// fill makes the folder of a key: what make leaves in the temporary folder. The lock must be held.
func (c cache) fill(key string, make func(temp string) error) error {
	temp, err := os.MkdirTemp(string(c), tempPrefix)
	if err != nil {
		return unwritable(err)
	}
	defer os.RemoveAll(temp) // once it was renamed there is nothing to remove
	if err := make(temp); err != nil {
		return err
	}
	for _, p := range programs {
		if err := persist(filepath.Join(temp, p.name)); err != nil {
			return err
		}
	}
	if !complete(temp) {
		return fmt.Errorf("go build left no programs in %s", temp)
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(c.entry(key)); err != nil {
		return err
	}
	return os.Rename(temp, c.entry(key))
}

// persist writes a file through to the disk, so that no crash leaves its name without its content.
func persist(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// prune removes all but the last used folders, and what killed builds left. The lock must be
// held. What can't be removed stays, and is tried again by the next build.
func (c cache) prune() {
	entries, _ := os.ReadDir(string(c))
	used := map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !e.IsDir():
		case strings.HasPrefix(e.Name(), tempPrefix):
			_ = os.RemoveAll(c.entry(e.Name()))
		default:
			used[e.Name()] = info.ModTime()
		}
	}
	names := make([]string, 0, len(used))
	for name := range used {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return used[b].Compare(used[a]) })
	for _, name := range names[min(kept, len(names)):] {
		_ = os.RemoveAll(c.entry(name))
	}
}
