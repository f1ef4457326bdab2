// Command demo shows Berth at work: it brings up a devplane with tainted node pools, and there has
// Berth run the pipeline that clones, vets, tests and builds Berth, a run that the operator's rules
// refuse, and one that waits. Each command is printed as a user would type it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
)

func main() {
	root := flag.String("root", "..", "folder of the repository")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *root, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

const (
	nodes    = "examples/demo/nodes.yaml"
	operator = "examples/demo/operator.yaml"
)

// run brings a devplane up, shows Berth on it, and takes it down.
func run(ctx context.Context, root string, out io.Writer) (err error) {
	out = &shared{w: out}
	root, err = filepath.Abs(root)
	if err != nil {
		return err
	}
	if err := needGit(ctx, root); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool, err := prepare(ctx, root, dir, out)
	if err != nil {
		return err
	}
	cluster, err := up(ctx, root, filepath.Join(dir, "devplane"), out)
	if err != nil {
		return err
	}
	defer func() {
		began := time.Now()
		if stopped := cluster.Stop(); stopped != nil {
			err = errors.Join(err, stopped)
			return
		}
		fmt.Fprintf(out, "\ndemo: cluster down in %.1fs, nothing is left of it\n", time.Since(began).Seconds())
	}()
	s := &shell{ctx: ctx, out: out, root: root, berth: filepath.Join(dir, "berth"), env: []string{
		"KUBECONFIG=" + filepath.Join(cluster.Dir, "kubeconfig"),
		"BERTH_OPERATOR=" + operator,
		"XDG_STATE_HOME=" + filepath.Join(dir, "state"),
	}}
	return show(s, tool)
}

// shared is a writer for several at once: the devplane says things while berth does.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// needGit says what the pipeline would fail for.
func needGit(ctx context.Context, root string) error {
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("no git: the demo's pipeline clones this repository; install git and put it on PATH")
	}
	git := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "-C", root, "rev-parse", "--verify", "--quiet", "HEAD")
	if git.Run() != nil {
		return fmt.Errorf("%s is no git repository with a commit: the demo's pipeline clones it", root)
	}
	return nil
}

// up starts the devplane. It gets a process group of its own, so that Ctrl-C in a terminal leaves it
// there for as long as Berth needs it; it ends when this process does.
func up(ctx context.Context, root, dir string, out io.Writer) (*devplanetest.Cluster, error) {
	binary, err := devplanetest.Binary()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.New("interrupted")
	}
	fmt.Fprintf(out, "$ devplane up --nodes %s\n", nodes)
	began := time.Now()
	cmd := exec.Command(binary, "up", "--lifeline", "--dir", dir, "--nodes", nodes)
	cmd.Dir, cmd.Stderr = root, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cluster, err := devplanetest.StartCommand(cmd, dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "demo: cluster up in %.1fs\n", time.Since(began).Seconds())
	return cluster, nil
}
