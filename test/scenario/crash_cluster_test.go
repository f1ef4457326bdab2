package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/test/cluster"
)

var shared = cluster.Share("testdata/nodes.yaml")

// thirty steps, some of which need others.
const thirty = `
version: 1
name: crash
defaults: {image: "busybox:1.37", retry: {max: 2, on: [lost]}}
steps:
  - name: first
    matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
    run: "sleep 0.4; echo ledger $BERTH_STEP $BERTH_ATTEMPT"
  - name: second
    needs: [first]
    matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}
    outputs: [o]
    run: |
      sleep 0.4
      echo ledger $BERTH_STEP $BERTH_ATTEMPT
      echo "o=$BERTH_FENCE" >> $BERTH_OUTPUT
  - name: third
    needs: [second]
    matrix: {n: [1, 2, 3, 4, 5, 6]}
    run: "sleep 0.4; echo ledger $BERTH_STEP $BERTH_ATTEMPT"
`

// TestCrash kills berth again and again while thirty steps run: no step is started twice, none is lost, and
// the run ends as it must. An independent watcher counts the pods of each attempt, and the steps themselves
// keep a ledger.
func TestCrash(t *testing.T) {
	t.Parallel()
	kills := 25
	if os.Getenv("BERTH_SOAK") != "" {
		kills = 200
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	c := shared.Get(t)
	p := newPipeline(t, c, thirty)
	for killed, rounds := 0, 0; killed < kills; rounds++ {
		p.state = filepath.Join(t.TempDir(), "state")
		killed += p.killing(chance, kills-killed)
		p.settled(30)
		if rounds > kills {
			t.Fatalf("%d kills only, in %d runs", killed, rounds)
		}
	}
}

// pipeline is one that is run in a namespace of its own, and the pods that were seen there.
type pipeline struct {
	testing.TB
	c                      *cluster.Cluster
	namespace, file, state string

	mu   sync.Mutex
	uids map[string]map[string]bool // of pods, by name
}

func newPipeline(t testing.TB, c *cluster.Cluster, text string) *pipeline {
	p := &pipeline{TB: t, c: c, namespace: c.Namespace(t), file: filepath.Join(t.TempDir(), "p.yaml"), uids: map[string]map[string]bool{}}
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := c.Client.CoreV1().Pods(p.namespace).Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(seen.Stop)
	go p.watch(seen)
	return p
}

func (p *pipeline) watch(seen watch.Interface) {
	for e := range seen.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		p.mu.Lock()
		if p.uids[pod.Name] == nil {
			p.uids[pod.Name] = map[string]bool{}
		}
		p.uids[pod.Name][string(pod.UID)] = true
		p.mu.Unlock()
	}
}

// berth is the program with its arguments, and where its complaints go.
func (p *pipeline) berth(args ...string) (*exec.Cmd, *strings.Builder) {
	cmd := exec.Command("berth", args...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Env = append(os.Environ(), "BERTH_OPERATOR=")
	return cmd, &said
}

// begin starts a run, or goes on with it.
func (p *pipeline) begin() (*exec.Cmd, *strings.Builder) {
	args := []string{"resume", "--state", p.state, "-o", "json"}
	if !p.recorded() {
		args = []string{"run", p.file, "--kubeconfig", p.c.Kubeconfig, "--namespace", p.namespace, "--state", p.state, "-o", "json"}
	}
	cmd, said := p.berth(args...)
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	return cmd, said
}

// recorded says whether there is a run to go on with.
func (p *pipeline) recorded() bool {
	cmd, _ := p.berth("runs", "--state", p.state, "-o", "json")
	var out strings.Builder
	cmd.Stdout = &out
	return cmd.Run() == nil && strings.Contains(out.String(), `"id"`)
}

// killing kills berth at random moments until the run has ended, and says how often it did.
func (p *pipeline) killing(chance *rand.Rand, most int) int {
	killed := 0
	for killed < most {
		cmd, said := p.begin()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		moment := time.NewTimer(time.Duration(50+chance.IntN(700)) * time.Millisecond)
		select {
		case <-moment.C:
			_ = cmd.Process.Kill()
			<-ended
			killed++
			continue
		case err := <-ended:
			if err != nil {
				p.Fatalf("berth ended by itself: %v\n%s", err, said)
			}
			return killed
		}
	}
	cmd, said := p.begin()
	if err := cmd.Wait(); err != nil {
		p.Fatalf("the last berth: %v\n%s", err, said)
	}
	return killed
}

// settled holds a run that has ended to what must be true of it.
func (p *pipeline) settled(steps int) {
	p.Helper()
	cmd, _ := p.berth("runs", "--state", p.state, "-o", "json")
	out, err := outputOf(cmd)
	if err != nil {
		p.Fatal(err)
	}
	var list struct{ Runs []struct{ ID, Status string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Runs) != 1 {
		p.Fatalf("%v\n%s", err, out)
	}
	id := list.Runs[0].ID
	var run struct {
		Status string
		Steps  []struct {
			ID, Name, Status string
			Attempts         []struct{ Number int }
		}
	}
	cmd, _ = p.berth("show", id, "--state", p.state, "-o", "json")
	if out, err = outputOf(cmd); err != nil {
		p.Fatal(err)
	}
	if err := json.Unmarshal(out, &run); err != nil {
		p.Fatal(err)
	}
	if run.Status != "succeeded" || len(run.Steps) != steps {
		p.Fatalf("the run is %s\n%s", run.Status, out)
	}
	for _, s := range run.Steps {
		if s.Status != "succeeded" || len(s.Attempts) != 1 {
			p.Errorf("%s is %s after %d attempts", s.Name, s.Status, len(s.Attempts))
		}
		cmd, _ := p.berth("logs", id, s.ID, "--state", p.state)
		ledger, err := outputOf(cmd)
		if want := fmt.Sprintf("ledger %s 1\n", s.ID); err != nil || string(ledger) != want {
			p.Errorf("the ledger of %s: %q, want %q (%v)", s.Name, ledger, want, err)
		}
		name := fmt.Sprintf("%s-%s-1", s.ID, strings.ToLower(id))
		cluster.Eventually(p.TB, "the watcher sees the pod of "+s.Name, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.uids[name]) > 0
		})
		p.mu.Lock()
		if n := len(p.uids[name]); n != 1 {
			p.Errorf("attempt 1 of %s had %d pods", s.Name, n)
		}
		p.mu.Unlock()
	}
	pods, err := p.c.Client.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		p.Errorf("%d pods are left (%v)", len(pods.Items), err)
	}
}

func outputOf(cmd *exec.Cmd) ([]byte, error) {
	cmd.Stdout, cmd.Stderr = nil, nil
	return cmd.Output()
}
