//go:build linux

package lifecycle

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
)

// run runs the devplane binary and returns its exit code and standard error.
func run(t *testing.T, args ...string) (code int, stderr string) {
	t.Helper()
	binary, err := devplanetest.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	var b bytes.Buffer
	cmd.Stderr = &b
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bad input starts nothing, exits 2 and says everything that is wrong.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"node file":         {[]string{"up", "--nodes", write(t, "version: 1\npools:\n- {name: A, kind: reel}\n")}, []string{":3:10:", "real, process or scale", ":3:"}},
		"no file":           {[]string{"up", "--nodes", "/nonexistent"}, []string{"/nonexistent"}},
		"detached lifeline": {[]string{"up", "--detach", "--lifeline"}, []string{"exclude"}},
		"two at once": {[]string{"up", "--node-grace", "1s", "--feature-gates", "A"},
			[]string{"at least 8s", "NAME=true"}},
		"flag":      {[]string{"up", "--nodez", "x"}, []string{"unknown flag", "devplane up --help"}},
		"command":   {[]string{"upp"}, []string{"unknown command", "up"}},
		"arguments": {[]string{"down", "x"}, []string{"takes no arguments"}},
		"fault":     {[]string{"fault", "explode"}, []string{"explode", "compact"}},
		"output":    {[]string{"status", "-o", "xml"}, []string{"table", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			args := c.args
			if name != "command" && name != "fault" {
				args = append(args, "--dir", dir)
			}
			code, stderr := run(t, args...)
			if code != 2 {
				t.Errorf("exit code %d; want 2", code)
			}
			for _, w := range c.want {
				if !strings.Contains(stderr, w) {
					t.Errorf("stderr lacks %q:\n%s", w, stderr)
				}
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the folder was made")
			}
		})
	}
}

func TestNothingRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"status"}, {"kubeconfig"}, {"fault", "compact"}} {
		code, stderr := run(t, append(args, "--dir", dir)...)
		if code != 1 || !strings.Contains(stderr, "start one with: devplane up --dir "+dir) {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	if code, stderr := run(t, "down", "--dir", dir); code != 0 {
		t.Errorf("down with nothing to do: exit code %d, %s", code, stderr)
	}
}

// A folder with somebody's files in it is left alone.
func TestForeignFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stderr := run(t, "up", "--dir", dir)
	if code != 4 || !strings.Contains(stderr, "thesis.txt") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// A part that can't start ends it all, with the part's own words.
func TestBrokenPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, stderr := run(t, "up", "--dir", dir, "--feature-gates", "NoSuchGate=true")
	if code != 4 || !strings.Contains(stderr, "unrecognized feature gate: NoSuchGate") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	traceless(t, load(t, dir), dir+"/")
}

// The detached form, a second start in the same folder, and a start after the end.
func TestDetach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	nodes := write(t, "version: 1\npools: [{name: n, kind: process}]\n")
	for range 2 {
		if code, stderr := run(t, "up", "--detach", "--dir", dir, "--nodes", nodes); code != 0 {
			t.Fatalf("up --detach: exit code %d, %s", code, stderr)
		}
		in := load(t, dir)
		if code, stderr := run(t, "up", "--dir", dir); code != 4 || !strings.Contains(stderr, "devplane down --dir "+dir) {
			t.Errorf("a second devplane in the folder: exit code %d, %s", code, stderr)
		}
		if code, stderr := run(t, "status", "--dir", dir); code != 0 {
			t.Errorf("status: exit code %d, %s", code, stderr)
		}
		if code, stderr := run(t, "down", "--dir", dir); code != 0 {
			t.Errorf("down: exit code %d, %s", code, stderr)
		}
		// When down returns all is over already, the guard included.
		if left := traces(in, dir+"/"); left != "" {
			t.Errorf("left after down:\n%s", left)
		}
	}
}

// A devplane that is still coming up can be taken down.
func TestDownWhileComingUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, err := devplanetest.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "up", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	devplanetest.Eventually(t, "its first part runs", func() bool {
		code, _ := run(t, "status", "--dir", dir)
		return code == 0
	})
	in := load(t, dir)
	if code, stderr := run(t, "down", "--dir", dir); code != 0 {
		t.Errorf("down: exit code %d, %s", code, stderr)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("up: %v", err)
	}
	traceless(t, in, dir+"/")
}

// Without root there are no real nodes: devplane says so in one line and goes on with process
// nodes, whose mounts are reached by environment variables.
func TestWithoutRoot(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	home, err := os.MkdirTemp("", "devplane-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	copyTools(t, home)
	var as *syscall.Credential // whoever runs the tests, unless that is root
	if os.Geteuid() == 0 {
		as = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(home, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(home, "state")
	nodes := filepath.Join(home, "nodes.yaml")
	if err := os.WriteFile(nodes, []byte("version: 1\npools: [{name: real, kind: real}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(home, "devplane"), "up", "--lifeline", "--dir", dir, "--nodes", nodes)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	c, err := devplanetest.StartCommand(cmd, dir)
	if err != nil {
		t.Fatal(err)
	}
	if said := c.Said(); !strings.Contains(said, "real nodes need root; process nodes take their place") {
		t.Errorf("devplane said:\n%s", said)
	}
	pod := sleeper("pod", "process", "1")
	pod.Spec.Volumes = []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	step := &pod.Spec.Containers[0]
	step.Command = []string{"sh", "-c", "echo kept > $BERTH_WORKSPACE/f && cat $BERTH_WORKSPACE/f && printf done > $BERTH_OUTPUT"}
	step.Env = []corev1.EnvVar{{Name: "BERTH_WORKSPACE", Value: "/workspace"}, {Name: "BERTH_OUTPUT", Value: "/dev/termination-log"}}
	step.VolumeMounts = []corev1.VolumeMount{{Name: "work", MountPath: "/workspace"}}
	c.Create(t, "default", pod)
	ended := c.Pod(t, "default", "pod", devplanetest.Ended)
	if ended.Status.Phase != corev1.PodSucceeded || ended.Status.ContainerStatuses[0].State.Terminated.Message != "done" {
		t.Errorf("%s", devplanetest.Describe(ended))
	}
	if log := c.Logs(t, "default", "pod", corev1.PodLogOptions{}); log != "kept\n" {
		t.Errorf("log %q", log)
	}
	in := load(t, dir)
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	for _, p := range marked(in.Env()) {
		t.Errorf("left: %s", p)
	}
}

// copyTools copies the binaries to where any user may run them.
func copyTools(t *testing.T, dir string) {
	t.Helper()
	binary, err := devplanetest.Binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"devplane", "shim", "pause"} {
		from, err := os.Open(filepath.Join(filepath.Dir(binary), name))
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(to, from)
		if err := errors.Join(err, from.Close(), to.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
