//go:build unix

package instance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

var errLocked = errors.New("locked")

// lockFile takes an exclusive lock that ends with the returned file or the process. The file is
// closed on exec, so that children don't hold it. It tries for a moment, since isLocked holds the
// lock for one.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for range 20 {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}

// isLocked asks with a shared lock, so that two who ask don't see each other.
func isLocked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// ownFolder makes sure that dir is a folder of this user's without the permissions in not.
func ownFolder(dir string, not os.FileMode) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&not != 0 {
		return fmt.Errorf("%s must be a folder that you own and that not everybody can write to", dir)
	}
	return nil
}

// runRoot is the folder for sockets: /run for root, else one that follows from the user alone, so
// that every process of the user's finds it, whatever its environment.
func runRoot() string {
	if os.Geteuid() == 0 {
		return "/run"
	}
	return filepath.Join("/tmp", "devplane-run-"+strconv.Itoa(os.Geteuid()))
}
