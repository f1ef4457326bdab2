package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// enterRoot makes the container's file system and moves into it: the machine's root, with all
// changes kept in memory and private, and everything below /dev, /proc, /sys and /tmp the
// container's own.
//
// The sources of the bind mounts are cloned as detached mounts before the move and attached
// after it. So paths of the machine are resolved on the machine, paths of the container in the
// container (where they may lead through its symbolic links), and neither can reach the other.
func enterRoot(spec *shimspec.Spec) error {
	// Nothing that is mounted from here on may be seen by the machine.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	clones, err := cloneSources(spec.Mounts)
	if err != nil {
		return err
	}
	root, err := mountOverlay(spec.Scratch)
	if err != nil {
		return err
	}
	if err := mountSystem(root); err != nil {
		return err
	}
	if err := pivot(root); err != nil {
		return err
	}
	for i, m := range spec.Mounts {
		if err := attach(clones[i], m); err != nil {
			return fmt.Errorf("mounting %s: %w", m.Target, err)
		}
	}
	return nil
}

// mountOverlay mounts the root and says where.
func mountOverlay(scratch string) (string, error) {
	if err := unix.Mount("tmpfs", scratch, "tmpfs", 0, "mode=0755"); err != nil {
		return "", fmt.Errorf("mounting the scratch space: %w", err)
	}
	dirs := make(map[string]string, 3)
	for _, name := range []string{"upper", "work", "root"} {
		dirs[name] = filepath.Join(scratch, name)
		if err := os.Mkdir(dirs[name], 0o755); err != nil {
			return "", err
		}
	}
	data := "lowerdir=/,upperdir=" + dirs["upper"] + ",workdir=" + dirs["work"]
	if err := unix.Mount("overlay", dirs["root"], "overlay", unix.MS_NODEV, data); err != nil {
		return "", fmt.Errorf("mounting the root: %w", err)
	}
	return dirs["root"], nil
}

// mountSystem mounts what every container has.
func mountSystem(root string) error {
	const safe = unix.MS_NOSUID | unix.MS_NODEV
	for _, m := range []struct {
		path, kind string
		flags      uintptr
		data       string
	}{
		{"proc", "proc", safe | unix.MS_NOEXEC, ""},
		{"sys", "sysfs", safe | unix.MS_NOEXEC | unix.MS_RDONLY, ""},
		{"tmp", "tmpfs", safe, "mode=1777"},
		{"dev", "tmpfs", safe, "mode=0755"},
		{"dev/shm", "tmpfs", safe | unix.MS_NOEXEC, "mode=1777"},
		{"dev/pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"},
	} {
		path := filepath.Join(root, m.path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, path, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mounting /%s: %w", m.path, err)
		}
	}
	return makeDevices(filepath.Join(root, "dev"))
}

// makeDevices fills a container's /dev. The devices are the machine's, by bind mount: making
// nodes is forbidden on some machines.
func makeDevices(dev string) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := filepath.Join(dev, name)
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting /dev/%s: %w", name, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// pivot makes root the root and forgets the machine's.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// With both arguments the same, the old root is stacked on the new one and "." is the old.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmounting the machine's root: %w", err)
	}
	return os.Chdir("/")
}

// cloneSources opens each mount's source as a detached copy of its mount.
func cloneSources(mounts []shimspec.Mount) ([]int, error) {
	clones := make([]int, len(mounts))
	for i, m := range mounts {
		source, err := openSource(m)
		if err != nil {
			return nil, fmt.Errorf("mounting %s: %w", m.Target, err)
		}
		clones[i], err = unix.OpenTree(int(source.Fd()), "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
		source.Close()
		if err != nil {
			return nil, fmt.Errorf("mounting %s: cloning %s: %w", m.Target, m.Source, err)
		}
		if err := restrict(clones[i], m); err != nil {
			return nil, fmt.Errorf("mounting %s: restricting it: %w", m.Target, err)
		}
	}
	return clones, nil
}

// restrict makes a mount read-only if it is to be. Devices work in none but one that is a device:
// there is no device cgroup to keep a container from making its own.
func restrict(clone int, m shimspec.Mount) error {
	var attr unix.MountAttr
	if m.ReadOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	var stat unix.Stat_t
	if err := unix.Fstat(clone, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	return unix.MountSetattr(clone, "", unix.AT_EMPTY_PATH, &attr)
}

// openSource opens what a mount shows. A sub-path exists already; it is resolved by os.Root,
// which lets no symbolic link lead out of the volume, and stays open from then on.
func openSource(m shimspec.Mount) (*os.File, error) {
	if m.SubPath == "" {
		return openPath(unix.AT_FDCWD, m.Source)
	}
	root, err := os.OpenRoot(m.Source)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Non-blocking, or opening a pipe would wait for its other end.
	return root.OpenFile(m.SubPath, os.O_RDONLY|unix.O_NONBLOCK, 0)
}

func openPath(dir int, path string) (*os.File, error) {
	fd, err := unix.Openat(dir, path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// attach puts a detached mount at its place in the container, which the process is in already.
func attach(clone int, m shimspec.Mount) error {
	defer unix.Close(clone)
	var stat unix.Stat_t
	if err := unix.Fstat(clone, &stat); err != nil {
		return err
	}
	if err := makeMountPoint(m.Target, stat.Mode&unix.S_IFMT == unix.S_IFDIR); err != nil {
		return err
	}
	return unix.MoveMount(clone, "", unix.AT_FDCWD, m.Target, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_SYMLINKS)
}

func makeMountPoint(target string, dir bool) error {
	if dir {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_RDONLY|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// sealRoot makes the root read-only, and what this program mounted as part of it.
func sealRoot() error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	for _, path := range []string{"/", "/tmp"} {
		if err := unix.MountSetattr(unix.AT_FDCWD, path, 0, &attr); err != nil {
			return fmt.Errorf("making %s read-only: %w", path, err)
		}
	}
	return nil
}
