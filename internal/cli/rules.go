package cli

import (
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/placement/profile"
)

// rules is the operator file in force: it is read again when it has changed, and the last valid one stays in
// force while it is invalid.
type rules struct {
	name string
	log  *slog.Logger

	mu      sync.Mutex
	current *profile.File
	changed time.Time
	size    int64
}

func newRules(name string, log *slog.Logger) (*rules, error) {
	r := &rules{name: name, log: log, current: profile.Empty()}
	if name == "" {
		return r, nil
	}
	text, err := readFile(name)
	if err != nil {
		return nil, &codeError{exitInvalid, err}
	}
	file, findings := profile.Load(name, text)
	if file == nil {
		return nil, &codeError{exitInvalid, findingsError(findings.Text(nil))}
	}
	r.current = file
	if info, err := os.Stat(name); err == nil {
		r.changed, r.size = info.ModTime(), info.Size()
	}
	return r, nil
}

type findingsError string

func (e findingsError) Error() string { return string(e) }

// file is the operator file in force.
func (r *rules) file() *profile.File {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.name == "" {
		return r.current
	}
	info, err := os.Stat(r.name)
	if err != nil || info.ModTime().Equal(r.changed) && info.Size() == r.size {
		return r.current
	}
	r.changed, r.size = info.ModTime(), info.Size()
	text, err := readFile(r.name)
	if err != nil {
		r.log.Warn("the operator file has changed and can't be read; the one before stays in force", "error", err)
		return r.current
	}
	file, findings := profile.Load(r.name, text)
	if file == nil {
		r.log.Warn("the operator file has changed and is invalid; the one before stays in force\n" + findings.Text(nil))
		return r.current
	}
	if file.Revision != r.current.Revision {
		r.log.Warn("the operator file has changed and is in force from now on", "revision", file.Revision)
	}
	r.current = file
	return file
}
