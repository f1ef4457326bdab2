package local_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

func TestServices(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	var asked atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if asked.Add(1) == 1 || q.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer web.Close()
	b := begin(t, local.Options{Dir: t.TempDir()})
	job := script("cat $FILE; cat $FILE.pid")
	file := filepath.Join(t.TempDir(), "ready")
	job.Spec.Work.Env = map[string]plan.Text{"FILE": {Text: file}}
	job.Spec.Work.Services = []plan.Service{
		{Name: "file", Command: texts("sh", "-c", "echo $$ >$FILE.pid; sleep 0.3; echo up >$FILE; sleep 1000"),
			Env: job.Spec.Work.Env, Ready: &plan.Ready{Exec: []string{"sh", "-c", "test -s $FILE"}}},
		{Name: "port", Command: texts("sleep", "1000"), Ready: &plan.Ready{TCP: port}},
		{Name: "web", Command: texts("sleep", "1000"),
			Ready: &plan.Ready{HTTP: &plan.HTTP{Port: web.Listener.Addr().(*net.TCPAddr).Port, Path: "/healthz"}}},
	}
	b.Start(job)
	if o := b.until(job.Ref, phase(run.PhaseEnded)); o.End.Class != run.Success {
		t.Errorf("ended as %+v", o.End.Outcome)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the service was asked %d times over HTTP", n)
	}
	said := strings.Fields(b.log(t, job.Ref, false))
	if len(said) != 2 || said[0] != "up" {
		t.Fatalf("the step started before its service was ready: %q", said)
	}
	if group, _ := strconv.Atoi(said[1]); alive(t, group) {
		t.Error("a service outlives its step")
	}
}

func TestServiceFails(t *testing.T) {
	b := begin(t, local.Options{Dir: t.TempDir()})
	job := script("echo started")
	job.Spec.Work.Services = []plan.Service{{Name: "db", Command: texts("sh", "-c", "echo broken >&2; exit 4"), Ready: &plan.Ready{Exec: []string{"false"}}}}
	b.Start(job)
	o := b.until(job.Ref, phase(run.PhaseEnded))
	if o.End.Class != run.NeverStarted || o.End.Reason != reason.ServiceFailed || !strings.Contains(o.End.Message, "broken") || !o.StartedAt.IsZero() {
		t.Errorf("ended as %+v", o.End)
	}
}

func TestStopWhileServiceStarts(t *testing.T) {
	b := begin(t, local.Options{Dir: t.TempDir()})
	job := script("echo started")
	job.Spec.Work.Services = []plan.Service{{Name: "db", Command: texts("sleep", "1000"), Ready: &plan.Ready{Exec: []string{"false"}}}}
	b.Start(job)
	b.until(job.Ref, func(o run.Observation) bool { return o.Waiting != nil && o.Waiting.Reason == reason.Initializing })
	b.Stop(executor.Stop{Ref: job.Ref})
	if o := b.until(job.Ref, phase(run.PhaseGone)); o.End == nil || o.End.Class != run.NeverStarted || !o.StartedAt.IsZero() {
		t.Errorf("gone as %+v", o)
	}
}
