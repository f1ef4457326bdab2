package realnode

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/proc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Machine is what this machine has.
func Machine() corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: quantity(int64(runtime.NumCPU()), resource.DecimalSI)}
	var si syscall.Sysinfo_t
	if syscall.Sysinfo(&si) == nil {
		list[corev1.ResourceMemory] = quantity(int64(si.Totalram)*int64(si.Unit), resource.BinarySI)
	}
	var fs syscall.Statfs_t
	if syscall.Statfs("/var/lib", &fs) == nil { // where a real node's files are
		list[corev1.ResourceEphemeralStorage] = quantity(int64(fs.Blocks)*fs.Bsize, resource.BinarySI)
	}
	return list
}

func addBridge(name, address string) error {
	for _, args := range [][]string{
		{"link", "add", name, "type", "bridge"},
		{"addr", "add", address, "dev", name},
		{"link", "set", name, "up"},
	} {
		if _, err := proc.Output(context.Background(), "ip", args...); err != nil {
			return err
		}
	}
	return nil
}

// cgroupMounts are the hierarchies: one for cgroup v2, one per controller for v1.
func cgroupMounts() []string {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []string
	for s := bufio.NewScanner(f); s.Scan(); {
		_, kind, ok := strings.Cut(s.Text(), " - ")
		if ok && strings.HasPrefix(kind, "cgroup") {
			all = append(all, strings.Fields(s.Text())[4])
		}
	}
	return all
}

// instanceCgroup holds the cgroups of all real nodes of an instance.
func instanceCgroup(in *instance.Instance) string { return "/devplane-" + in.ID }

func (n *Node) cgroup() string { return instanceCgroup(n.in()) + "/" + n.Name }

// makeCgroups makes the kubelet's root in every hierarchy; the kubelet wants it to exist.
func makeCgroups(path string) error {
	for _, m := range cgroupMounts() {
		dir := filepath.Join(m, path)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		// cpuset in cgroup v1 begins empty, and nothing can join an empty one.
		for _, d := range []string{filepath.Dir(dir), dir} {
			inherit(d, "cpuset.cpus")
			inherit(d, "cpuset.mems")
		}
	}
	return nil
}

func inherit(dir, file string) {
	if have, err := os.ReadFile(filepath.Join(dir, file)); err != nil || strings.TrimSpace(string(have)) != "" {
		return
	}
	if parent, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file)); err == nil {
		_ = os.WriteFile(filepath.Join(dir, file), parent, 0o644)
	}
}

// Kill ends everything that runs on the node, as a power cut would; the caller has killed
// containerd and the kubelet.
func (n *Node) Kill() {
	proc.KillAll(func() []int { return append(proc.WithEnv(n.mark()), cgroupProcs(n.cgroup())...) })
}

func cgroupProcs(path string) []int {
	var pids []int
	for _, m := range cgroupMounts() {
		_ = filepath.WalkDir(filepath.Join(m, path), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "cgroup.procs" {
				return nil
			}
			data, _ := os.ReadFile(p)
			for _, f := range strings.Fields(string(data)) {
				if pid, err := strconv.Atoi(f); err == nil {
					pids = append(pids, pid)
				}
			}
			return nil
		})
	}
	return pids
}

// Sweep removes what the instance's real nodes hold of the machine: processes, mounts, cgroups,
// bridges, shims' sockets and the network plugins' records. It may be called at any time after
// the parts are dead, by any process, more than once.
func Sweep(in *instance.Instance) error {
	if len(in.RealNodes) == 0 {
		return nil
	}
	proc.KillAll(func() []int { return cgroupProcs(instanceCgroup(in)) })
	err := unmountBelow(in.Dir, in.RunDir(), in.NodesDir())
	for i := range in.RealNodes {
		if _, e := net.InterfaceByName(in.Bridge(i)); e == nil {
			_, e := proc.Output(context.Background(), "ip", "link", "del", in.Bridge(i))
			err = errors.Join(err, e)
		}
	}
	removeRecords("/var/lib/cni/results", in.RunDir())
	removeDeadSockets("/run/containerd/s")
	removeLinksInto("/var/log/containers", in.NodesDir())
	return errors.Join(err, removeCgroups(instanceCgroup(in)))
}

// unmountBelow unmounts everything mounted below dirs, last mounted first.
func unmountBelow(dirs ...string) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for i, d := range dirs { // mountinfo has no symbolic links
		if real, err := filepath.EvalSymlinks(d); err == nil {
			dirs[i] = real
		}
	}
	var points []string
	for _, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape(fields[4])
		if slices.ContainsFunc(dirs, func(d string) bool { return strings.HasPrefix(point, d+"/") }) {
			points = append(points, point)
		}
	}
	slices.Reverse(points)
	var all error
	for _, p := range points {
		if e := syscall.Unmount(p, syscall.MNT_DETACH); e != nil && !errors.Is(e, syscall.EINVAL) && !errors.Is(e, syscall.ENOENT) {
			all = errors.Join(all, fmt.Errorf("unmount %s: %w", p, e))
		}
	}
	return all
}

// unescape undoes mountinfo's octal escapes of space, tab, newline and backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

func removeCgroups(path string) error {
	var all error
	for _, m := range cgroupMounts() {
		var dirs []string
		_ = filepath.WalkDir(filepath.Join(m, path), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, p)
			}
			return nil
		})
		slices.Reverse(dirs) // children first
		for _, d := range dirs {
			all = errors.Join(all, removeCgroup(d))
		}
	}
	return all
}

// removeCgroup tries for a while: a cgroup stays busy for a moment after its last process.
func removeCgroup(dir string) error {
	var err error
	for range 200 {
		if err = syscall.Rmdir(dir); err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroup %s: %w", dir, err)
}

// removeDeadSockets removes sockets that nobody listens on any more. containerd's shims have
// theirs in one folder for the whole machine and leave them there when they are killed.
func removeDeadSockets(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path)
		}
	}
}

// removeRecords removes what the network plugins' library remembers of pods whose network
// namespace was below runDir.
func removeRecords(dir, runDir string) {
	records, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, r := range records {
		if data, err := os.ReadFile(r); err == nil && strings.Contains(string(data), runDir+"/") {
			_ = os.Remove(r)
		}
	}
}

// removeLinksInto removes the links that kubelets keep for log collectors.
func removeLinksInto(dir, target string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, target+"/") {
			_ = os.Remove(path)
		}
	}
}
