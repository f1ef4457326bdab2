package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/berthdev/berth/test/cluster"
)

// TestLocal and TestKubernetes run the same scripts with the same expectations: once as processes of this
// machine, once as pods.
func TestLocal(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata/run", func(*testscript.Env) *stage {
		return &stage{target: []string{"--executor", "local"}}
	})
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	scripts(t, "testdata/run", func(*testscript.Env) *stage { return onCluster(t, c) })
}

// TestCluster runs the scripts of what only happens in a cluster: one for each way to end and each reason to wait.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	scripts(t, "testdata/cluster", func(e *testscript.Env) *stage {
		s := onCluster(t, c)
		e.Setenv("NS", s.namespace)
		return s
	})
}

// TestFaults runs the scripts that break nodes and the API server, one after the other, on a cluster of their own; then
// berth is killed amid such things.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, "testdata/fault/nodes.yaml", "--node-grace", "8s")
	files, err := filepath.Glob("testdata/fault/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run("", func(t *testing.T) {
			scriptsOf(t, testscript.Params{Files: []string{f}}, func(*testscript.Env) *stage { return onCluster(t, c) })
		})
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) { crashAmid(t, c, f) })
	}
}

// stage is where a script's runs take place.
type stage struct {
	target    []string // flags of berth run
	cluster   *cluster.Cluster
	namespace string

	dir   string
	berth *program
}

func onCluster(t *testing.T, c *cluster.Cluster) *stage {
	s := &stage{cluster: c, namespace: c.Namespace(t)}
	s.target = []string{"--kubeconfig", c.Kubeconfig, "--namespace", s.namespace}
	return s
}

type stageKey struct{}

func scripts(t *testing.T, dir string, set func(*testscript.Env) *stage) {
	scriptsOf(t, testscript.Params{Dir: dir}, set)
}

func scriptsOf(t *testing.T, p testscript.Params, set func(*testscript.Env) *stage) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	p.RequireExplicitExec, p.UpdateScripts = true, *update
	p.Condition = func(what string) (bool, error) {
		if what == "root" {
			return cluster.CanReal(), nil
		}
		return false, fmt.Errorf("unknown condition %s", what)
	}
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("EXAMPLES", examples)
		e.Setenv("BERTH_OPERATOR", "")
		s := set(e)
		s.dir = e.WorkDir
		e.Values[stageKey{}] = s
		e.Defer(func() {
			if s.berth != nil {
				s.berth.kill()
			}
		})
		return nil
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "begin": begin, "until": until, "ends": ends, "signal": signal,
		"create": create, "patch": patch, "delete": deleteObject, "patch-pod": patchPod,
		"evict": evict, "remove": remove, "bind": bind, "squat": squat, "admission": admission, "fault": fault,
	}
	testscript.Run(t, p)
}

func stageOf(s *testscript.TestScript) *stage { return s.Value(stageKey{}).(*stage) }

// begin starts a berth in the background: begin run FILE [FLAG...], or begin resume.
func begin(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	for i, a := range args {
		if strings.HasSuffix(a, ".yaml") {
			args[i] = s.MkAbs(a)
		}
	}
	args = append(args, "--state", s.MkAbs("state"), "-o", "json")
	if args[0] == "run" {
		args = append(args, st.target...)
	}
	var err error
	st.berth, err = launch(args, st.dir, []string{"HOME=" + st.dir})
	s.Check(err)
}

// until waits for an event: until STEP STATUS|REASON [MESSAGE].
func until(s *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		s.Fatalf("write: until STEP STATUS|REASON [MESSAGE]")
	}
	message, err := regexp.Compile(strings.Join(args[2:], ""))
	s.Check(err)
	s.Check(stageOf(s).berth.happens(args[0], args[1], message))
}

// ends waits for the end, holds the exit code to what is expected, and writes the file account: ends CODE [kept]. No pod
// of a run is left, unless they are kept.
func ends(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	code, err := st.berth.wait()
	s.Check(err)
	s.Logf("%s", st.berth)
	if want, err := strconv.Atoi(args[0]); err != nil || code != want {
		s.Fatalf("exit code %d, want %s (%v)", code, args[0], err)
	}
	if st.cluster != nil {
		s.Check(st.left(len(args) > 1 && args[1] == "kept"))
	}
	events := st.berth.events()
	text, err := account(s.MkAbs("state"), events, st.mask)
	s.Check(err)
	s.Check(os.WriteFile(s.MkAbs("account"), []byte(text), 0o600))
	st.berth = nil
}

var (
	aRun  = regexp.MustCompile(`(?i)\b01[0-9A-HJKMNP-TV-Z]{24}\b`)
	aTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// mask hides what differs each time.
func (s *stage) mask(text string) string {
	if s.namespace != "" {
		text = strings.ReplaceAll(text, s.namespace, "NAMESPACE")
	}
	text = strings.ReplaceAll(text, s.dir, "DIR")
	return aTime.ReplaceAllString(aRun.ReplaceAllString(text, "RUN"), "TIME")
}

// signal sends INT or KILL to berth.
func signal(s *testscript.TestScript, _ bool, args []string) {
	p := stageOf(s).berth
	switch args[0] {
	case "INT":
		s.Check(p.cmd.Process.Signal(syscall.SIGINT))
	case "KILL":
		p.kill()
	default:
		s.Fatalf("write: signal INT|KILL")
	}
}

func (s *stage) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cluster.Limit)
}
