package kube

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/executor"
)

// A kubelet that has removed the container says so in place of the log.
func TestNoLogInPlaceOfOne(t *testing.T) {
	const said = "unable to retrieve container logs for containerd://5441493f9815cf90"
	for text, none := range map[string]bool{said: true, said + "\n": false, "it was " + said: false, "": false, "hello\n": false,
		said + strings.Repeat("0", 1000): false} {
		log, err := unless(io.NopCloser(strings.NewReader(text)))
		if none != errors.Is(err, executor.ErrNoLog) {
			t.Errorf("%q: %v", text, err)
		}
		if none {
			continue
		}
		if got, err := io.ReadAll(log); string(got) != text || err != nil {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
}
