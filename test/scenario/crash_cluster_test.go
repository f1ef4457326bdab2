package scenario

import (
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
	go p.watch()
	return p
}

// watch sees pods come, whatever becomes of the API server meanwhile.
func (p *pipeline) watch() {
	for from := ""; p.Context().Err() == nil; {
		seen, err := p.c.Client.CoreV1().Pods(p.namespace).Watch(p.Context(), metav1.ListOptions{ResourceVersion: from})
		if err != nil {
			from = "" // it is too old, or nobody answers
			continue
		}
		for e := range seen.ResultChan() {
			if pod, ok := e.Object.(*corev1.Pod); ok {
				from = pod.ResourceVersion
				p.saw(pod)
			} else {
				from = ""
			}
		}
		seen.Stop()
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

// killing kills berth at random moments until the run has ended, and says how often it did. Before each kill something
// else happens, if amid is not nil.
func (p *pipeline) killing(chance *rand.Rand, most int, amid func()) int {
	killed := 0
	for killed < most {
		cmd, said := p.begin()
		if amid != nil {
			amid()
		}
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

// settled holds a run that has ended to what must be true of it: all its steps succeeded, no attempt had more than one
// pod, and nothing is left. What others did may have cost attempts, if that is what the test is about.
func (p *pipeline) settled(steps int, costs bool) {
	p.Helper()
	r, err := shown(p.state, "")
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
