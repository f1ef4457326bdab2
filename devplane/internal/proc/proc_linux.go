package proc

import (
	"bytes"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childAttr: the parent-death signal is SIGKILL because a part whose supervisor is gone has
// nobody left who would wait for an orderly end.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

var starter = sync.OnceValue(func() chan func() {
	calls := make(chan func())
	go func() {
		// Linux sends the parent-death signal when the *thread* that forked ends, and Go ends
		// threads as it likes. This one is locked for as long as the process lives.
		runtime.LockOSThread()
		for f := range calls {
			f()
		}
	}()
	return calls
})

func onStarterThread(start func() error) error {
	result := make(chan error)
	starter() <- func() { result <- start() }
	return <-result
}

// BecomeSubreaper makes orphans below this process its children instead of init's: containerd's
// shims daemonise, and without this nobody could find them once containerd is dead. Adopted
// children that end are waited for.
func BecomeSubreaper() error {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		for range ended {
			reapAdopted()
		}
	}()
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// reapAdopted waits for children of this process that have ended and that it did not start.
func reapAdopted() {
	forking.Lock()
	defer forking.Unlock()
	self := os.Getpid()
	for _, p := range list() {
		if _, own := started.Load(p.pid); p.parent == self && p.zombie && !own {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// Descendants returns the processes below pid, parents before children.
func Descendants(pid int) []int {
	children := map[int][]int{}
	for _, p := range list() {
		if p.zombie {
			continue // it holds nothing, and has no children
		}
		children[p.parent] = append(children[p.parent], p.pid)
	}
	all := children[pid]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// KillDescendants kills every process below this one. It finds what has daemonised if this process
// is a subreaper.
func KillDescendants() {
	self := os.Getpid()
	KillAll(func() []int { return Descendants(self) })
}

// KillAll sends SIGKILL to the processes that find finds, until it finds none but this one and
// those that have ended.
func KillAll(find func() []int) {
	// One that hangs in the kernel can't be killed.
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		reapAdopted()
		zombies := map[int]bool{os.Getpid(): true}
		for _, p := range list() {
			if p.zombie {
				zombies[p.pid] = true
			}
		}
		left := slices.DeleteFunc(find(), func(pid int) bool { return zombies[pid] })
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond) // a killed process takes a moment to go
	}
}

// WithEnv returns the processes whose environment has the entry (KEY=VALUE), and all below them.
func WithEnv(entry string) []int {
	var found []int
	seen := map[int]bool{}
	for _, p := range list() {
		env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+entry+"\x00")) {
			continue
		}
		for _, pid := range append([]int{p.pid}, Descendants(p.pid)...) {
			if !seen[pid] {
				seen[pid] = true
				found = append(found, pid)
			}
		}
	}
	return found
}

type entry struct {
	pid, parent int
	zombie      bool
}

func list() []entry {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []entry
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", d.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The second field is the command's name in parentheses, which may hold anything.
		rest := string(stat[bytes.LastIndexByte(stat, ')')+1:])
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, entry{pid: pid, parent: parent, zombie: fields[0] == "Z"})
	}
	return all
}

// Alive reports whether a process exists and has not ended.
func Alive(pid int) bool {
	return slices.ContainsFunc(list(), func(p entry) bool { return p.pid == pid && !p.zombie })
}

// Memory returns the resident set of a process in bytes, 0 if it has ended.
func Memory(pid int) int64 {
	statm, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
