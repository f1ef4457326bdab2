package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/source"
)

func (l *loader) environments(entries []environmentEntry) {
	const path = "environments"
	list := l.root.Field(path)
	if l.tooMany(list, path, len(entries), MostEnvironments) {
		return
	}
	l.names(list, path)
	profiles := l.file.ProfileNames()
	for i, e := range entries {
		n, at := list.Item(i), source.At(path, i, list.Item(i))
		permits := n.Field("permits")
		l.allow(n.Field("allow"), at+".allow", e.Allow)
		l.permittedProfiles(permits.Field("placement_profiles"), at+".permits.placement_profiles", e.Permits.Profiles, profiles)
		l.subdomains(permits.Field("secrets"), at+".permits.secrets", "deploy-token", e.Permits.Secrets)
		l.subdomains(permits.Field("service_accounts"), at+".permits.service_accounts", "deployer", e.Permits.ServiceAccounts)
		l.subdomains(permits.Field("claims"), at+".permits.claims", "build-cache", e.Permits.Claims)
		l.file.Environments = append(l.file.Environments, Environment{
			Name:  e.Name,
			Allow: (*Allow)(e.Allow),
			Permits: Permits{
				Overlay:         l.overlay(permits.Field("k8s_overlay"), at+".permits.k8s_overlay", e.Permits.Overlay),
				Profiles:        e.Permits.Profiles,
				Secrets:         e.Permits.Secrets,
				ServiceAccounts: e.Permits.ServiceAccounts,
				Claims:          e.Permits.Claims,
			},
		})
	}
}

// allow checks who may target an environment. A list without entries matches nobody, as leaving out the
// whole section does, and is not how anyone would say so.
func (l *loader) allow(n *source.Node, at string, a *allowSection) {
	if a == nil || n == nil || n.Kind != source.Map {
		return
	}
	if len(n.Fields) == 0 {
		l.add(n.Fault(finding.ValueInvalid, at, "add identities or pipelines; or leave allow out, and nobody but operators may target the environment",
			"%s matches nobody", at))
	}
	l.globs(n.Field("identities"), at+".identities", a.Identities)
	l.globs(n.Field("pipelines"), at+".pipelines", a.Pipelines)
}

func (l *loader) globs(list *source.Node, at string, globs []Glob) {
	if list == nil || list.Kind != source.List {
		return
	}
	if len(globs) == 0 {
		l.add(list.Fault(finding.ValueInvalid, at, "add an entry, or leave the list out", "%s is empty, and matches nobody", at))
	}
	for i, g := range globs {
		n, here := list.Item(i), fmt.Sprintf("%s[%d]", at, i)
		if n.Kind != source.String {
			continue
		}
		if trouble := g.trouble(); trouble != "" {
			l.add(n.Fault(finding.PatternInvalid, here, "write a name, with * for any run of characters", "the pattern %q %s", g, trouble))
		} else if g.regular() {
			l.add(n.Found(finding.PatternInvalid, finding.Warning, here, "write * for any run of characters; patterns match whole names anyway",
				"the pattern %q looks like a regular expression, and is none: nothing but * is special", g))
		}
	}
}

// overlay reads a permit for k8s_overlay.
func (l *loader) overlay(n *source.Node, at string, p overlayPermit) OverlayPermit {
	permit := OverlayPermit{All: p.all}
	for _, w := range l.readPaths(n, at, p.paths) {
		permit.Paths = append(permit.Paths, w.Path)
	}
	return permit
}

// permittedProfiles checks that the profiles exist, and that each needs a permit.
func (l *loader) permittedProfiles(list *source.Node, at string, names, known []string) {
	otherwise := "the file has none"
	if len(known) > 0 {
		otherwise = "there are " + strings.Join(known, ", ")
	}
	for i, name := range names {
		n, here := list.Item(i), fmt.Sprintf("%s[%d]", at, i)
		if n.Kind != source.String {
			continue
		}
		switch p := l.file.Profile(name); {
		case !slices.Contains(known, name):
			l.add(n.Fault(finding.ProfileUnknown, here, l.guess(name, known, otherwise),
				"there is no placement profile %q", name))
		case !p.Restricted:
			l.add(n.Found(finding.PermitUnneeded, finding.Warning, here, "leave it out, or make the profile restricted",
				"the profile %s is not restricted: anyone may list it, in any environment", name))
		}
	}
}

// guess says what was meant by an unknown name.
func (l *loader) guess(name string, known []string, otherwise string) string {
	if l.guesses++; l.guesses > mostGuesses {
		return otherwise
	}
	return finding.DidYouMean(name, known, otherwise)
}

// subdomains checks names of Kubernetes objects. They are exact: a pattern would permit what nobody has
// looked at.
func (l *loader) subdomains(list *source.Node, at, example string, names []string) {
	for i, name := range names {
		n := list.Item(i)
		if n.Kind != source.String {
			continue
		}
		if err := ident.Subdomain(name); err != nil {
			l.add(n.Fault(finding.NameInvalid, fmt.Sprintf("%s[%d]", at, i), "write an exact name, such as "+example, "the name %q %v", name, err))
		}
	}
}
