package scenario

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/ident"
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
		killed += p.killing(chance, kills-killed, nil)
		p.settled(30, false)
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
	seen, err := p.watch("") // before there are any
	if err != nil {
		t.Fatal(err)
	}
	go p.see(seen)
	return p
}

func (p *pipeline) watch(from string) (watch.Interface, error) {
	return p.c.Client.CoreV1().Pods(p.namespace).Watch(p.Context(), metav1.ListOptions{ResourceVersion: from})
}

// see sees pods come, whatever becomes of the API server meanwhile.
func (p *pipeline) see(seen watch.Interface) {
	for from := ""; p.Context().Err() == nil; {
		for e := range seen.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok {
				from = pod.ResourceVersion
				p.saw(pod)
			} else {
				from = ""
			}
		}
		seen.Stop()
		for p.Context().Err() == nil {
			var err error
			if seen, err = p.watch(from); err == nil {
				break
			}
			from = "" // it is too old, or nobody answers
		}
	}
}

func (p *pipeline) saw(pod *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uids[pod.Name] == nil {
		p.uids[pod.Name] = map[string]bool{}
	}
	p.uids[pod.Name][string(pod.UID)] = true
}

// begin starts a run, or goes on with it if it is on record.
func (p *pipeline) begin() *program {
	args := []string{"resume", "--state", p.state, "-o", "json"}
	if _, err := newest(p.state); err != nil {
		args = []string{"run", p.file, "--kubeconfig", p.c.Kubeconfig, "--namespace", p.namespace, "--state", p.state, "-o", "json"}
	}
	berth, err := launch(args, "", nil)
	if err != nil {
		p.Fatal(err)
	}
	return berth
}

// killing kills berth at random moments until the run has ended, and says how often it did. Before each kill something
// else happens, if amid is not nil.
func (p *pipeline) killing(chance *rand.Rand, most int, amid func()) int {
	killed := 0
	for ; killed < most; killed++ {
		berth := p.begin()
		if amid != nil {
			amid()
		}
		moment := time.NewTimer(time.Duration(50+chance.IntN(700)) * time.Millisecond)
		select {
		case <-moment.C:
			berth.kill()
			continue
		case <-berth.ended:
		}
		p.well(berth)
		return killed
	}
	berth := p.begin()
	<-berth.ended
	p.well(berth)
	return killed
}

// well fails the test if a berth that has ended did not end well.
func (p *pipeline) well(berth *program) {
	p.Helper()
	if code := berth.cmd.ProcessState.ExitCode(); code != 0 {
		p.Fatalf("berth ended by itself, with exit code %d\n%s", code, berth)
	}
}

// settled holds a run that has ended to what must be true of it: all its steps succeeded, no attempt had more than one
// pod, and nothing is left. What others did may have cost attempts, if that is what the test is about.
func (p *pipeline) settled(steps int, costs bool) {
	p.Helper()
	r, err := shown(p.state)
	if err != nil {
		p.Fatal(err)
	}
	if r.Status != "succeeded" || len(r.Steps) != steps {
		text, _ := json.MarshalIndent(r, "", "  ")
		p.Fatalf("the run is %s\n%s", r.Status, text)
	}
	for _, s := range r.Steps {
		if s.Status != "succeeded" || len(s.Attempts) != 1 && !costs {
			p.Errorf("%s is %s after %d attempts", s.ID, s.Status, len(s.Attempts))
		}
		last := s.Attempts[len(s.Attempts)-1].Number
		ledger, err := ask("logs", r.ID, s.ID, "--state", p.state)
		if err != nil && costs {
			continue // who deletes a pod that has ended takes its log along
		}
		if want := fmt.Sprintf("ledger %s %d\n", s.ID, last); err != nil || string(ledger) != want {
			p.Errorf("the ledger of %s: %q, want %q (%v)", s.ID, ledger, want, err)
		}
		for _, a := range s.Attempts {
			p.onePod(s.ID, r.ID, a.Number, a.ID != "")
		}
	}
	pods, err := p.c.Client.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		p.Errorf("%d pods are left (%v)", len(pods.Items), err)
	}
}

// onePod fails the test if the watcher has seen more than one pod of an attempt, or none if there was one.
func (p *pipeline) onePod(step, run string, attempt int, some bool) {
	p.Helper()
	name := ident.PodName(step, run, attempt)
	seen := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.uids[name])
	}
	if some {
		cluster.Eventually(p.TB, "the watcher sees the pod of "+name, func() bool { return seen() > 0 })
	}
	if n := seen(); n > 1 {
		p.Errorf("%s was the name of %d pods", name, n)
	}
}
