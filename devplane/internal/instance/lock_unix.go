//go:build unix

package instance

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

var errLocked = errors.New("locked")

// lockFile takes an exclusive lock that ends with the returned file or the process. The file is
// closed on exec, so that children don't hold it.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}

// runRoot is the machine's folder for run-time state: /run for root, else the user's own.
func runRoot() string {
	if os.Geteuid() == 0 {
		return "/run"
	}
	if d := os.Getenv("XDG_RUNTIME_DIR"); d != "" {
		return d
	}
	return filepath.Join("/tmp", "devplane-run-"+strconv.Itoa(os.Geteuid()))
}
