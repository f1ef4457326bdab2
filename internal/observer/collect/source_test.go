package collect

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	observer "github.com/berthdev/berth/api/observer/v1"
)

var (
	group        = schema.GroupResource{Resource: "pods"}
	errForbidden = apierrors.NewForbidden(group, "", errors.New("no"))
	errDown      = errors.New("connection refused")
	errBroken    = apierrors.NewInternalError(errors.New("oops"))
)

// What a source says after each of a number of things have happened to it.
func TestSource(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(int64(minutes)*60, 0) }
	for _, c := range []struct {
		what          string
		happens       func(*source)
		failing       string
		synced        bool
		settled       bool
		interruptions int
	}{
		{"nothing", func(*source) {}, "", false, false, 0},
		{"a list", func(s *source) { s.answered(); s.listed() }, "", true, true, 0},
		{"forbidden", func(s *source) { s.failed(errForbidden, at(0)) }, observer.FailingForbidden, false, true, 0},
		{"unreachable for long", func(s *source) { s.failed(errDown, at(0)); s.failed(errDown, at(100)) }, observer.FailingUnreachable, false, false, 0},
		{"not there at all", func(s *source) { s.failed(apierrors.NewNotFound(group, ""), at(0)) }, observer.FailingRefused, false, true, 0},
		{"refused", func(s *source) { s.failed(errBroken, at(0)); s.failed(errBroken, at(1)) }, observer.FailingRefused, false, false, 0},
		{"refused for long", func(s *source) { s.failed(errBroken, at(0)); s.failed(errBroken, at(2)) }, observer.FailingRefused, false, true, 0},
		{"lost", func(s *source) { s.listed(); s.failed(errDown, at(0)); s.failed(errDown, at(1)) }, observer.FailingUnreachable, true, true, 1},
		{"lost and resumed", func(s *source) { s.listed(); s.failed(errDown, at(0)); s.answered() }, "", true, true, 1},
		{"lost and listed", func(s *source) { s.listed(); s.failed(errDown, at(0)); s.listed() }, "", true, true, 1},
		{"listed anew", func(s *source) { s.listed(); s.listed() }, "", true, true, 1},
	} {
		s := newSource(watchOf("pods", ""))
		c.happens(s)
		d := describe([]*source{s})[0]
		settled := false
		select {
		case <-s.settled:
			settled = true
		default:
		}
		if d.Failing != c.failing || d.Synced != c.synced || d.Interruptions != c.interruptions || settled != c.settled || (d.FailingSince != nil) != (c.failing != "") {
			t.Errorf("%s: %+v, settled %v", c.what, d, settled)
		}
	}
}

// Several watches of a resource are one source: seen if all are, failing since the first fails.
func TestSourcesOfNamespaces(t *testing.T) {
	a, b := newSource(watchOf("pods", "a")), newSource(watchOf("pods", "b"))
	a.listed()
	b.failed(errDown, time.Unix(60, 0))
	a.failed(errForbidden, time.Unix(30, 0))
	d := describe([]*source{a, b})
	if len(d) != 1 || d[0].Watches != 2 || d[0].Synced || d[0].Failing != observer.FailingForbidden || d[0].FailingSince.Unix() != 30 || d[0].Interruptions != 1 {
		t.Errorf("%+v", d)
	}
}
