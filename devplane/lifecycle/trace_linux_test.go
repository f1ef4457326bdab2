package lifecycle

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
	"github.com/berthdev/berth/devplane/internal/instance"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mixed = `
version: 1
pools:
- {name: real, kind: real}
- {name: process, kind: process}
- {name: scale, kind: scale, count: 2, run_for: 1h}
`

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimKey); dir != "" {
		os.Exit(victim(dir))
	}
	os.Exit(m.Run())
}

// victimKey makes this test binary start a devplane and wait to be killed.
const victimKey = "DEVPLANE_TEST_VICTIM"

func victim(dir string) int {
	c, err := devplanetest.Start(dir, mixed)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.Config.Host)
	<-c.Done()
	return 0
}

// ways are how a devplane may end. Each gets a cluster with pods on every kind of node.
var ways = map[string]func(t *testing.T, in *instance.Instance, c *devplanetest.Cluster){
	"down": func(t *testing.T, _ *instance.Instance, c *devplanetest.Cluster) {
		if _, err := c.Devplane("down"); err != nil {
			t.Error(err)
		}
	},
	"ctrl-c":            signalTo(func(in *instance.Instance) int { return in.Guard }, syscall.SIGINT),
	"guard killed":      signalTo(func(in *instance.Instance) int { return in.Guard }, syscall.SIGKILL),
	"supervisor killed": signalTo(func(in *instance.Instance) int { return in.Supervisor }, syscall.SIGKILL),
	"both killed then down": func(t *testing.T, in *instance.Instance, c *devplanetest.Cluster) {
		// Stopped first, so that neither can act on the other's death.
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
			for _, pid := range []int{in.Guard, in.Supervisor} {
				if err := syscall.Kill(pid, sig); err != nil {
					t.Error(err)
				}
			}
		}
		<-c.Done()
		devplanetest.Eventually(t, "the supervisor is gone", func() bool { return !in.Running() })
		if _, err := c.Devplane("down"); err != nil {
			t.Error(err)
		}
	},
}

func signalTo(pid func(*instance.Instance) int, sig syscall.Signal) func(*testing.T, *instance.Instance, *devplanetest.Cluster) {
	return func(t *testing.T, in *instance.Instance, _ *devplanetest.Cluster) {
		if err := syscall.Kill(pid(in), sig); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a folder, with: a name")
			c, err := devplanetest.Start(dir, mixed)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Stop() })
			in := load(t, dir)
			mark := occupy(t, c)
			checkListeners(t, in)
			end(t, in, c)
			<-c.Done()
			traceless(t, in, mark)
		})
	}
}

// The lifeline: a test binary that is killed takes its devplane with it.
func TestTestBinaryKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimKey+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is up
		t.Fatal(err)
	}
	in := load(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	traceless(t, in, in.ID)
}

func load(t *testing.T, dir string) *instance.Instance {
	t.Helper()
	in, err := instance.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// occupy runs a pod on each kind of node and returns a word that the command line of each
// container's process has.
func occupy(t *testing.T, c *devplanetest.Cluster) string {
	t.Helper()
	ctx := devplanetest.Context(t)
	mark := strconv.FormatInt(1e6+time.Now().UnixNano()%1e9, 10) // as seconds to sleep
	class := metav1.ObjectMeta{Name: "claim"}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: class, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: one}}}}
	if _, err := c.Client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kinds := append(devplanetest.Kinds(), "scale")
	for _, kind := range kinds {
		c.Create(t, "default", sleeper(kind, kind, mark))
	}
	for _, kind := range kinds {
		c.Pod(t, "default", kind, func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
	}
	if len(processes(mark)) < len(kinds)-1 {
		t.Fatalf("no process has %s in its command line: the check below would prove nothing", mark)
	}
	return mark
}

// traceless waits until an ended devplane has left nothing on the machine but its logs.
func traceless(t *testing.T, in *instance.Instance, mark string) {
	t.Helper()
	left := ""
	devplanetest.Eventually(t, "the supervisor is gone", func() bool { return !in.Running() })
	defer func() {
		if left != "" {
			t.Error(left)
		}
	}()
	devplanetest.Eventually(t, "nothing is left", func() bool { left = traces(in, mark); return left == "" })
}

func traces(in *instance.Instance, mark string) string {
	var all []string
	add := func(what string, found []string) {
		if len(found) > 0 {
			all = append(all, what+": "+strings.Join(found, ", "))
		}
	}
	add("processes", append(processes(mark), processes(in.RunDir())...))
	add("processes with the mark", marked(in.Env()))
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, line := range strings.Split(string(mounts), "\n") {
		if strings.Contains(line, in.Dir+"/") || strings.Contains(line, in.RunDir()) || strings.Contains(line, in.NodesDir()) {
			add("mount", []string{line})
		}
	}
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		if strings.HasPrefix(i.Name, "dp"+in.ID) {
			add("bridge", []string{i.Name})
		}
	}
	cgroups, _ := filepath.Glob("/sys/fs/cgroup/*/devplane-" + in.ID)
	v2, _ := filepath.Glob("/sys/fs/cgroup/devplane-" + in.ID)
	add("cgroups", append(cgroups, v2...))
	for _, dir := range []string{in.RunDir(), in.NodesDir()} {
		if _, err := os.Stat(dir); err == nil {
			add("folder", []string{dir})
		}
	}
	entries, _ := os.ReadDir(in.Dir)
	for _, e := range entries {
		if !slices.Contains([]string{"lock", "logs", "devplane.json"}, e.Name()) {
			add("data", []string{in.Path(e.Name())})
		}
	}
	for _, port := range []int{in.APIServer(), in.Etcd(), in.EtcdPeer()} {
		if c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			c.Close()
			add("listener", []string{strconv.Itoa(port)})
		}
	}
	return strings.Join(all, "\n")
}

// processes are those whose command line contains word, but this test's own.
func processes(word string) []string {
	return scan("cmdline", func(pid int, data string) bool { return pid != os.Getpid() && strings.Contains(data, word) })
}

func marked(entry string) []string {
	return scan("environ", func(_ int, data string) bool { return strings.Contains(data, entry) })
}

func scan(file string, match func(pid int, data string) bool) []string {
	dirs, _ := os.ReadDir("/proc")
	var found []string
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join("/proc", d.Name(), file))
		if text := strings.ReplaceAll(string(data), "\x00", " "); err == nil && match(pid, text) {
			found = append(found, d.Name()+" "+text[:min(len(text), 120)])
		}
	}
	return found
}

// checkListeners holds every listening socket of the instance's processes against the addresses
// that it may use: loopback, and those of its own bridges.
func checkListeners(t *testing.T, in *instance.Instance) {
	t.Helper()
	inodes := map[string]bool{}
	for _, p := range marked(in.Env()) {
		pid, _, _ := strings.Cut(p, " ")
		files, _ := os.ReadDir("/proc/" + pid + "/fd")
		for _, f := range files {
			if to, err := os.Readlink("/proc/" + pid + "/fd/" + f.Name()); err == nil {
				if inode, ok := strings.CutPrefix(to, "socket:["); ok {
					inodes[strings.TrimSuffix(inode, "]")] = true
				}
			}
		}
	}
	_, own, _ := net.ParseCIDR(fmt.Sprintf("198.18.%d.0/24", in.Slot))
	count := 0
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"} {
		data, err := os.ReadFile(file)
		if errorsIsNotExist(err) {
			continue
		}
		for _, line := range strings.Split(string(data), "\n")[1:] {
			f := strings.Fields(line)
			// 0A is LISTEN for TCP, 07 an unconnected UDP socket.
			if len(f) < 10 || !inodes[f[9]] || f[3] != "0A" && f[3] != "07" {
				continue
			}
			count++
			if ip := hexIP(f[1]); !ip.IsLoopback() && !own.Contains(ip) {
				t.Errorf("%s: a part listens on %s", file, ip)
			}
		}
	}
	if count < 5 {
		t.Errorf("only %d listeners found: the check proves nothing", count)
	}
}

func errorsIsNotExist(err error) bool { return err != nil && os.IsNotExist(err) }

// hexIP reads an address as /proc/net/tcp prints it: words of four bytes, each little-endian.
func hexIP(s string) net.IP {
	s, _, _ = strings.Cut(s, ":")
	ip := make(net.IP, len(s)/2)
	for i := range ip {
		b, _ := strconv.ParseUint(s[2*i:2*i+2], 16, 8)
		ip[i/4*4+3-i%4] = byte(b)
	}
	return ip
}
