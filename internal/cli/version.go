package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in a release: -X github.com/berthdev/berth/internal/cli.version=v1.2.3
var version string

// versionInfo is what `berth version -o json` prints.
type versionInfo struct {
	Version  string `json:"version"`            // as released, else as the Go module was built, else "devel"
	Commit   string `json:"commit,omitempty"`   // absent where the build recorded none
	Modified bool   `json:"modified,omitempty"` // the checkout differed from Commit
	Go       string `json:"go"`
	Platform string `json:"platform"` // GOOS/GOARCH
}

func newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  noArgs,
	}
	output := addFormat(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		build, _ := debug.ReadBuildInfo()
		info := describe(version, build)
		if output.value == "json" {
			return printJSON(cmd.OutOrStdout(), info)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), info)
		return err
	}
	return cmd
}

// describe prefers what the linker set to what the Go command recorded. build may be nil.
func describe(linked string, build *debug.BuildInfo) versionInfo {
	info := versionInfo{
		Version:  linked,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if build != nil {
		if info.Version == "" && build.Main.Version != "(devel)" {
			info.Version = build.Main.Version
		}
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				info.Commit = s.Value
			case "vcs.modified":
				info.Modified = s.Value == "true"
			}
		}
	}
	if info.Version == "" {
		info.Version = "devel"
	}
	return info
}

func (v versionInfo) String() string {
	s := "berth " + v.Version
	if v.Commit != "" {
		s += " commit " + v.Commit
	}
	if v.Modified {
		s += " (modified)"
	}
	return s + " " + v.Go + " " + v.Platform
}

// buildVersion is the version of this program, for those that it talks to.
func buildVersion() string {
	build, _ := debug.ReadBuildInfo()
	return describe(version, build).Version
}
