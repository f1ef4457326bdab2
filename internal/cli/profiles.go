package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

func newProfiles() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List the operator's placement profiles with what each sets",
		Example: `  berth profiles --operator operator.yaml
  berth profiles -o json`,
		Args: noArgs,
	}
	operator := addOperator(cmd)
	output := addFormat(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		in := newInputs(cmd)
		file, findings, err := in.operator(*operator, "there are no profiles")
		if err != nil {
			return err
		}
		printFindings(cmd.ErrOrStderr(), findings, in.sources)
		if file == nil {
			return said(exitInvalid)
		}
		if output.value == "json" {
			return printJSON(cmd.OutOrStdout(), listedProfiles(file))
		}
		profileTable(cmd.OutOrStdout(), file)
		return nil
	}
	return cmd
}

// listed is what profiles -o json prints.
type listed struct {
	Baseline setting         `json:"baseline"`
	Profiles []listedProfile `json:"profiles"`
}

// setting is a fragment with what it sets.
type setting struct {
	Sets []set `json:"sets"`
}

// set is a value that a fragment sets.
type set struct {
	Path  placement.Path `json:"path"`
	Value any            `json:"value"`
}

type listedProfile struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Default     bool   `json:"default"`
	Restricted  bool   `json:"restricted"`
	MayBeEmpty  bool   `json:"may_be_empty"`
	setting
}

func listedProfiles(f *profile.File) listed {
	out := listed{Baseline: setting{sets(placement.Baseline, f.Baseline.K8s.Value, f.Baseline.Resources.Fragment())}, Profiles: []listedProfile{}}
	for _, p := range f.Profiles {
		out.Profiles = append(out.Profiles, listedProfile{p.Name, p.Description, p.Default, p.Restricted, p.MayBeEmpty,
			setting{sets(placement.Profile, p.K8s.Value)}})
	}
	return out
}

// sets lists what fragments set, by path.
func sets(kind placement.Kind, fragments ...map[string]any) []set {
	var layers []placement.Layer
	for _, f := range fragments {
		layers = append(layers, placement.Layer{Kind: kind, Fragment: f})
	}
	all := []set{}
	for _, o := range placement.Compose(layers, placement.Governs{}).Origins {
		all = append(all, set{o.Path, o.Value})
	}
	return all
}

func profileTable(w io.Writer, f *profile.File) {
	t := &table{}
	t.row("PROFILE", "WHO", "SETS", "DESCRIPTION")
	rows := func(name, who, description string, all []set) {
		if len(all) == 0 {
			t.row(name, who, "-", description)
		}
		for i, s := range all {
			if i > 0 {
				name, who, description = "", "", ""
			}
			t.row(name, who, s.Path.String()+" = "+shortJSON(s.Value), description)
		}
	}
	listed := listedProfiles(f)
	rows("(baseline)", "every pod", "", listed.Baseline.Sets)
	for _, p := range listed.Profiles {
		rows(p.Name, who(p), p.Description, p.Sets)
	}
	t.write(w, "")
	if len(listed.Profiles) == 0 {
		fmt.Fprintln(w, "no profiles")
	}
}

// who says which steps have the profile.
func who(p listedProfile) string {
	var words []string
	switch {
	case p.Default:
		words = append(words, "default")
	case p.Restricted:
		words = append(words, "restricted")
	default:
		words = append(words, "anyone")
	}
	if p.MayBeEmpty {
		words = append(words, "may be empty")
	}
	return strings.Join(words, ", ")
}
