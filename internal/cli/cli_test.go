package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"testing"
)

// run returns what a command line prints and its exit code.
func berth(args ...string) (stdout, stderr string, code int) {
	var out, complaints bytes.Buffer
	code = Main(args, &out, &complaints)
	return out.String(), complaints.String(), code
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"-h"}, {"help"}} {
		stdout, stderr, code := berth(args...)
		if code != exitOK || stderr != "" {
			t.Errorf("berth %q: exit code %d, stderr %q", args, code, stderr)
		}
		for _, want := range []string{"Examples:\n  berth run", "\n  version "} {
			if !strings.Contains(stdout, want) {
				t.Errorf("berth %q: no %q in\n%s", args, want, stdout)
			}
		}
	}
	if stdout, _, code := berth("help", "version"); code != exitOK || !strings.Contains(stdout, "--output") {
		t.Errorf("berth help version: exit code %d, stdout\n%s", code, stdout)
	}
}

func TestInvalidCommandLine(t *testing.T) {
	const rootHelp, versionHelp = `Type "berth --help"`, `Type "berth version --help"`
	tests := []struct {
		line string
		want string // first line of stderr, without "berth: "
		help string
	}{
		{"versoin", `unknown command "versoin": did you mean "berth version"?`, rootHelp},
		{"versoin -o json", `unknown command "versoin": did you mean "berth version"?`, rootHelp},
		{"frobnicate", `unknown command "frobnicate"`, rootHelp},
		{"help versoin", `unknown command "versoin": did you mean "berth version"?`, rootHelp},
		{"--version", `unknown flag --version: did you mean "berth version"?`, rootHelp},
		{"--hepl", `unknown flag --hepl: did you mean --help?`, rootHelp},
		{"-x", `unknown flag -x`, rootHelp},
		{"version --ouptut json", `unknown flag --ouptut: did you mean --output?`, versionHelp},
		{"version --frobnicate", `unknown flag --frobnicate`, versionHelp},
		{"version -o yaml", `invalid argument "yaml" for "-o, --output" flag: must be text or json`, versionHelp},
		{"version now", `unexpected argument "now": berth version takes flags only`, versionHelp},
		{"completion fsh", `unknown command "fsh": did you mean "berth completion fish"?`, `Type "berth completion --help"`},
		{"completion fish now", `unknown command "now" for "berth completion fish"`, `Type "berth completion fish --help"`},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			stdout, stderr, code := berth(strings.Fields(test.line)...)
			if code != exitInvalid {
				t.Errorf("exit code %d, want %d", code, exitInvalid)
			}
			if stdout != "" {
				t.Errorf("stdout: %q", stdout)
			}
			first, rest, _ := strings.Cut(stderr, "\n")
			if first != "berth: "+test.want || !strings.HasPrefix(rest, test.help) {
				t.Errorf("stderr:\n%s\nwant:\nberth: %s\n%s", stderr, test.want, test.help)
			}
		})
	}
}

func TestFailureIsNotInvalid(t *testing.T) {
	if code := exitCode(errors.New("disk on fire")); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
}

func TestVersion(t *testing.T) {
	stdout, _, code := berth("version", "-o", "json")
	var got versionInfo
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %v in %q", code, err, stdout)
	}
	if got.Version == "" || got.Go == "" || got.Platform == "" {
		t.Errorf("incomplete: %+v", got)
	}
	if text, _, _ := berth("version"); text != got.String()+"\n" {
		t.Errorf("text %q and json %+v disagree", text, got)
	}
}

func TestDescribe(t *testing.T) {
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	dirty := []debug.BuildSetting{{Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.modified", Value: "true"}}
	tests := []struct {
		name   string
		linked string
		build  *debug.BuildInfo
		want   string // without the Go version and the platform
	}{
		{"nothing known", "", nil, "berth devel"},
		{"built in a checkout, nothing recorded", "", build("(devel)"), "berth devel"},
		{"go install", "", build("v1.2.3"), "berth v1.2.3"},
		{"release", "v1.2.4", build("(devel)"), "berth v1.2.4"},
		{"the linker wins", "v1.2.4", build("v1.2.3"), "berth v1.2.4"},
		{"changed checkout", "", build("(devel)", dirty...), "berth devel commit c0ffee (modified)"},
	}
	for _, test := range tests {
		info := describe(test.linked, test.build)
		want := test.want + " " + info.Go + " " + info.Platform
		if got := info.String(); got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
