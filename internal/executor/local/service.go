package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// service is a process beside the step.
type service struct {
	*process
	name string
	log  string // file
}

// services are those of an attempt, in the order in which they were started.
type services []*service

// begin starts the step's services, each once the one before is ready. It says why the step can't start; "":
// it can, or the attempt was asked to end.
func (r *runner) begin() (all services, why string) {
	for i := range r.job.Spec.Work.Services {
		spec := &r.job.Spec.Work.Services[i]
		s, err := r.serve(spec)
		if err != nil {
			return all, fmt.Sprintf("the service %s could not be started: %v", spec.Name, err)
		}
		all = append(all, s)
		r.now(func(o *run.Observation) {
			o.Waiting = &run.Waiting{Reason: reason.Initializing, Message: "the service " + s.name + " is not ready yet", Since: r.e.Now()}
		})
		if !r.untilReady(s, spec) {
			break
		}
	}
	for _, s := range all {
		select {
		case <-s.ended:
			return all, s.died()
		default:
		}
	}
	return all, ""
}

func serviceFolder(name string) string { return "service-" + name }

// serve starts a service, in an empty folder of its own. Its output is not the step's.
func (r *runner) serve(spec *plan.Service) (*service, error) {
	folder := filepath.Join(r.folder, serviceFolder(spec.Name))
	if err := os.MkdirAll(filepath.Join(folder, workFolder), 0o700); err != nil {
		return nil, err
	}
	s := &service{name: spec.Name, log: filepath.Join(folder, logFile)}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.process, err = begin(r.argv(spec.Command, spec.Args), r.environment(spec.Env), filepath.Join(folder, workFolder), log, r.e.Now)
	if err != nil {
		return nil, err
	}
	r.record.add(s.pid)
	return s, nil
}

// died says how a service ended, with the last that it said.
func (s *service) died() string {
	text := fmt.Sprintf("the service %s ended before the step had started: %s", s.name, s.cmd.ProcessState)
	if last := lastLine(s.log); last != "" {
		text += ": " + last
	}
	return text
}

// lastLine is the last line of a file that is not empty, shortened.
func lastLine(file string) string {
	const most = 200
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = f.Seek(max(0, size-4*most), io.SeekStart)
	}
	data, _ := io.ReadAll(io.LimitReader(f, 4*most))
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	return finding.Clip(text[strings.LastIndexByte(text, '\n')+1:], most)
}

// probeEvery is how often a service is asked whether it is ready. A kubelet does it once a second.
const probeEvery = 100 * time.Millisecond

// untilReady waits until a service is ready, and says whether it is: else it has ended, or the attempt is to.
func (r *runner) untilReady(s *service, spec *plan.Service) bool {
	if spec.Ready == nil {
		return true
	}
	ask := r.probe(spec)
	t := time.NewTicker(probeEvery)
	defer t.Stop()
	for !ask(r.a.asked) {
		select {
		case <-s.ended:
			return false
		case <-r.a.asked.Done():
			return false
		case <-t.C:
		}
	}
	return true
}

// stop ends the services, the last one first. Together they have serviceGrace, or less if the attempt has.
func (all services) stop(forced context.Context) {
	grace, cancel := context.WithTimeout(forced, serviceGrace)
	defer cancel()
	now, asked := context.WithCancel(context.Background())
	asked()
	for i := len(all) - 1; i >= 0; i-- {
		all[i].end(now, grace)
	}
}
