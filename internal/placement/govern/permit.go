package govern

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Check judges a request by an operator file, and gives all that is not permitted. An environment that the
// file does not have permits nothing, and then that is the only denial.
func (r Request) Check(operator *profile.File) []Denial {
	if r.Environment == "" {
		return r.untargeted(operator)
	}
	e := operator.Environment(r.Environment)
	if e == nil {
		return []Denial{unknownEnvironment(r.Environment, operator)}
	}
	if !r.Needs() {
		return nil
	}
	p := permitter{environment: e.Name}
	for _, name := range r.Profiles {
		if now := operator.Profile(name); now == nil || now.Restricted {
			p.name(finding.ProfileForbidden, "placement_profiles", "placement_profiles", "restricted placement profile", name, e.Permits.Profiles)
		}
	}
	for _, name := range r.Secrets {
		p.name(finding.SecretForbidden, "secrets", "secrets", "Secret", name, e.Permits.Secrets)
	}
	if name := r.ServiceAccount; name != "" {
		p.name(finding.ServiceAccountForbidden, "service_account", "service_accounts", "service account", name, e.Permits.ServiceAccounts)
	}
	if r.Overlay {
		p.overlay(r.Touched, e.Permits.Overlay)
		for _, ref := range r.References {
			p.reference(ref, e.Permits)
		}
	}
	return p.denials
}

func unknownEnvironment(name string, operator *profile.File) Denial {
	return Denial{Code: finding.EnvironmentUnknown, Message: "there is no environment " + quoted(name),
		Fix: nearest(name, operator.EnvironmentNames(), "environments")}
}

// untargeted refuses all that needs a permit: a run without an environment has none.
func (r Request) untargeted(operator *profile.File) []Denial {
	var denials []Denial
	fix := "leave it out: the operator file has no environments"
	if known := operator.EnvironmentNames(); len(known) > 0 {
		fix = "target an environment that permits it, with environment in the pipeline or --environment: " + finding.Either(known)
	}
	need := func(key, entry, what string) {
		denials = append(denials, Denial{Code: finding.EnvironmentNeeded, Key: key, Entry: entry, Fix: fix,
			Message: what + " needs an environment that permits it, and the run targets none"})
	}
	for _, name := range r.Profiles {
		need("placement_profiles", name, "the restricted placement profile "+name)
	}
	for _, name := range r.Secrets {
		need("secrets", name, "the Secret "+name)
	}
	if r.ServiceAccount != "" {
		need("service_account", r.ServiceAccount, "the service account "+r.ServiceAccount)
	}
	if r.Overlay {
		need("k8s_overlay", "", "k8s_overlay")
	}
	return denials
}

// permitter collects what an environment does not permit.
type permitter struct {
	environment string
	denials     []Denial
}

// name checks an exact name; key is the step's, and list that of the permits.
func (p *permitter) name(code finding.Code, key, list, what, name string, permitted []string) {
	if !slices.Contains(permitted, name) {
		p.denials = append(p.denials, Denial{Code: code, Key: key, Entry: name,
			Message: "the environment " + p.environment + " does not permit the " + what + " " + quoted(name),
			Fix:     p.fix(name, list, permitted)})
	}
}

// overlay checks that every path is covered by a permitted one.
func (p *permitter) overlay(touched []placement.Path, permit profile.OverlayPermit) {
	switch {
	case permit.All:
		return
	case len(permit.Paths) == 0:
		p.denials = append(p.denials, Denial{Code: finding.OverlayForbidden, Key: "k8s_overlay",
			Message: "the environment " + p.environment + " does not permit k8s_overlay",
			Fix:     "name placement profiles instead, or ask the cluster's operator to permit the fields"})
		return
	}
	for _, path := range touched {
		if !slices.ContainsFunc(permit.Paths, func(q placement.Path) bool { return q.Covers(path) }) {
			p.denials = append(p.denials, Denial{Code: finding.OverlayForbidden, Key: "k8s_overlay", Path: path,
				Message: "the environment " + p.environment + " does not let k8s_overlay touch " + path.String(),
				Fix:     "leave it out, or ask the cluster's operator; permitted is what is at or below " + texts(permit.Paths)})
		}
	}
}

// reference checks what an overlay refers to.
func (p *permitter) reference(r Reference, permits profile.Permits) {
	kind := kinds[r.Kind]
	permitted := kind.permitted(permits)
	if r.Name != "" && slices.Contains(permitted, r.Name) {
		return
	}
	d := Denial{Code: kind.code, Key: "k8s_overlay", Path: r.Path, Fix: p.fix(r.Name, kind.list, permitted)}
	named := kind.what + " " + quoted(r.Name)
	switch {
	case r.Name == "":
		d.Message = "k8s_overlay refers to a " + kind.what + " without naming it, so that nothing can permit it"
		d.Fix = "name it at " + r.Path.String()
	case r.Operators:
		d.Message = "k8s_overlay gets at the " + named + " of the operator's layers, which the environment " + p.environment + " does not permit"
	default:
		d.Message = "k8s_overlay refers to the " + named + ", which the environment " + p.environment + " does not permit"
	}
	p.denials = append(p.denials, d)
}

func (p *permitter) fix(name, list string, permitted []string) string {
	if len(permitted) == 0 {
		return "ask the cluster's operator: permits." + list + " of " + p.environment + " is empty"
	}
	return finding.DidYouMean(name, permitted, "ask the cluster's operator") + " (permits." + list + " of " + p.environment + " has " + strings.Join(permitted, ", ") + ")"
}

func texts(paths []placement.Path) string {
	all := make([]string, len(paths))
	for i, p := range paths {
		all[i] = p.String()
	}
	return finding.Either(all)
}
