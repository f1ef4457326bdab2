package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// programs are what is built, and the names of their files.
var programs = []struct{ pkg, name string }{
	{".", "devplane"},
	{"./shim", "shim"},
	{"./pause", "pause"},
}

// module is what go.mod says that the build needs.
type module struct {
	path       string // the import path of devplane itself
	kubernetes string // v1.37.2
	major      string
	minor      string
}

var (
	moduleLine     = regexp.MustCompile(`(?m)^module\s+(\S+)`)
	kubernetesLine = regexp.MustCompile(`(?m)^(?:require)?\s+k8s\.io/kubernetes\s+(v(\d+)\.(\d+)\.\d\S*)`)
)

func parseGoMod(text string) (module, error) {
	path, version := moduleLine.FindStringSubmatch(text), kubernetesLine.FindStringSubmatch(text)
	if path == nil || version == nil {
		return module{}, errors.New("go.mod: no module line, or no k8s.io/kubernetes vX.Y.Z among the requirements")
	}
	return module{path: path[1], kubernetes: version[1], major: version[2], minor: version[3]}, nil
}

// buildArgs are the flags of go build. All but those of the linker must be what go test is given
// (GOFLAGS in the Makefile), or both would compile Kubernetes for themselves.
func (m module) buildArgs() []string {
	ldflags := []string{"-s", "-w"}
	// What Kubernetes' own build sets (hack/lib/version.sh). Without it the API server has a
	// version that kubectl can't parse, and user agents that name no version.
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, v := range []struct{ name, value string }{
			{"gitVersion", m.kubernetes},
			{"gitMajor", m.major},
			{"gitMinor", m.minor},
			{"gitCommit", "unknown"}, // the module proxy doesn't tell
		} {
			ldflags = append(ldflags, fmt.Sprintf("-X=%s.%s=%s", pkg, v.name, v.value))
		}
	}
	return []string{"-trimpath", "-buildvcs=false", "-ldflags=" + strings.Join(ldflags, " ")}
}

// goCommand runs the go command in the module, with the user's environment and build cache. No
// workspace and no flags of the user's apply: the sources that were hashed are what is built.
func goCommand(ctx context.Context, source string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

// goEnv is what the go command's own settings add to the programs.
func goEnv(ctx context.Context, source string) ([]string, error) {
	cmd := goCommand(ctx, source, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w\n%s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.Split(string(out), "\n"), nil
}
