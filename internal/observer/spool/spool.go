// Package spool is a folder of payloads, one file for each kind.
//
// It promises:
//   - Whoever reads KIND.json reads a whole payload, the former one or the new one, whenever the machine or the
//     program stops: a payload is written to another file, which is synced and then renamed.
//   - A payload that can't be written is an error, and the former one stays.
//   - The folder stays within its bounds; the oldest payloads go first. Files of others are left alone.
package spool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Bounds of a folder.
type Bounds struct {
	Age   time.Duration // of a payload
	Bytes int64         // of all of them
	Count int           // of them
}

// Spool is a folder of payloads. One goroutine may write; any may read.
type Spool struct {
	dir    string
	bounds Bounds
	now    func() time.Time
}

const temporary = ".tmp-"

// Open makes the folder if need be, and removes what an earlier writer did not finish.
func Open(dir string, bounds Bounds, now func() time.Time) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(dir, temporary+"*"))
	if err != nil {
		return nil, err
	}
	for _, f := range left {
		if err := os.Remove(f); err != nil {
			return nil, err
		}
	}
	s := &Spool{dir, bounds, now}
	return s, s.trim()
}

// Write writes a payload with encode, which says whether it is to be kept. It gives the size of the payload.
func (s *Spool) Write(kind string, encode func(io.Writer) (keep bool, err error)) (bytes int64, kept bool, err error) {
	f, err := os.CreateTemp(s.dir, temporary+kind+"-*")
	if err != nil {
		return 0, false, err
	}
	defer func() {
		_ = f.Close()
		if !kept {
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	keep, err := encode(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil || !keep {
		return 0, false, err
	}
	if bytes, err = f.Seek(0, io.SeekCurrent); err != nil {
		return 0, false, err
	}
	if bytes > s.bounds.Bytes {
		return 0, false, fmt.Errorf("a payload of %d bytes is larger than the spool may be (%d)", bytes, s.bounds.Bytes)
	}
	if err := errors.Join(f.Chmod(0o640), f.Sync(), f.Close()); err != nil {
		return 0, false, err
	}
	if err := os.Rename(f.Name(), s.path(kind)); err != nil {
		return 0, false, err
	}
	kept = true
	return bytes, true, errors.Join(s.sync(), s.trim())
}

// sync makes a rename last.
func (s *Spool) sync() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Spool) path(kind string) string { return filepath.Join(s.dir, kind+".json") }

// Open gives the payload of a kind. The error is fs.ErrNotExist if there is none.
func (s *Spool) Open(kind string) (io.ReadCloser, error) { return os.Open(s.path(kind)) }

// trim removes payloads until the folder is within its bounds.
func (s *Spool) trim() error {
	type payload struct {
		path string
		info fs.FileInfo
	}
	var all []payload
	total := int64(0)
	for _, kind := range observer.Kinds() {
		info, err := os.Stat(s.path(kind))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, payload{s.path(kind), info})
		total += info.Size()
	}
	slices.SortFunc(all, func(a, b payload) int {
		if c := a.info.ModTime().Compare(b.info.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	for len(all) > 0 {
		oldest := all[0]
		if s.now().Sub(oldest.info.ModTime()) <= s.bounds.Age && total <= s.bounds.Bytes && len(all) <= s.bounds.Count {
			return nil
		}
		if err := os.Remove(oldest.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= oldest.info.Size()
		all = all[1:]
	}
	return nil
}
