package proc

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// childKey makes this test binary play a parent that is to be killed.
const childKey = "PROC_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(childKey) != "" {
		parent()
		return
	}
	os.Exit(m.Run())
}

// parent starts a child that will not end by itself, says its pid, and waits to be killed.
func parent() {
	p, err := Start(Spec{Path: "/bin/sleep", Args: []string{"1000"}})
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(strconv.Itoa(p.Pid) + "\n")
	select {}
}

// A child dies with its parent, whatever the signal.
func TestChildDiesWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childKey+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Kill() }()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for Alive(pid) {
	}
}

// A grandchild that has left its parent is found and killed, and exit statuses of our own
// children still arrive while adopted ones are waited for.
func TestSubreaper(t *testing.T) {
	if err := BecomeSubreaper(); err != nil {
		t.Fatal(err)
	}
	out, err := Output(context.Background(), "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 & echo $!")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(Descendants(os.Getpid()), pid) {
		t.Fatalf("%d, which has daemonised, is not found among %v", pid, Descendants(os.Getpid()))
	}
	for range 50 {
		if _, err := Output(context.Background(), "sh", "-c", "true & exit 7"); err == nil || !strings.Contains(err.Error(), "exit status 7") {
			t.Fatalf("exit status of a child: %v; want 7", err)
		}
	}
	KillDescendants()
	if Alive(pid) {
		t.Errorf("%d lives", pid)
	}
}

func TestWithEnv(t *testing.T) {
	p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", "env -u MARK sleep 1000 & wait"}, Env: []string{"PATH=/bin:/usr/bin", "MARK=a/b"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	for len(Descendants(p.Pid)) == 0 {
	}
	found := WithEnv("MARK=a/b")
	if !slices.Contains(found, p.Pid) || len(found) != 2 {
		t.Errorf("found %v; want %d and its child, which lacks the mark", found, p.Pid)
	}
	if len(WithEnv("MARK=a")) != 0 {
		t.Error("a part of an entry matches")
	}
	for _, pid := range found {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
