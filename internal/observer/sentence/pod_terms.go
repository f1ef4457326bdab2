package sentence

import (
	"fmt"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// per says what a topology key groups: "node", or "value of KEY".
func per(key string) string {
	switch key {
	case "kubernetes.io/hostname":
		return "node"
	case "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone":
		return "zone"
	case "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region":
		return "region"
	}
	return "value of " + key
}

func strength(t observer.PodTerm, what string) string {
	if t.Required {
		return "required " + what
	}
	return fmt.Sprintf("preferred %s, weight %d,", what, t.Weight)
}

// whom says which pods a term selects.
func whom(t observer.PodTerm) string {
	in := map[string]string{observer.NamespacesOwn: "", observer.NamespacesListed: " in listed namespaces",
		observer.NamespacesSelected: " in namespaces selected by label", observer.NamespacesAll: " in all namespaces"}[t.Namespaces]
	switch t.Selects {
	case observer.SelectsSelf:
		if t.Namespaces == observer.NamespacesSelected {
			return "pods with its own labels" + in
		}
		return "itself" + in
	case observer.SelectsAll:
		if t.Namespaces == observer.NamespacesOwn {
			in = " in its namespace"
		}
		return "every pod" + in
	case observer.SelectsNone:
		return "no pod at all"
	}
	return "other pods" + in
}

func antiAffinity(t observer.PodTerm) string {
	why := fmt.Sprintf("%s to %s on %s", strength(t, "anti-affinity"), whom(t), t.TopologyKey)
	switch {
	case t.Selects == observer.SelectsNone:
		return "forbids nothing: " + why
	case !t.Required && t.Selects == observer.SelectsSelf:
		return fmt.Sprintf("prefers one per %s: %s", per(t.TopologyKey), why)
	case !t.Required:
		return fmt.Sprintf("prefers a %s without them: %s", per(t.TopologyKey), why)
	case t.Selects == observer.SelectsSelf:
		return fmt.Sprintf("held one per %s: %s", per(t.TopologyKey), why)
	}
	return fmt.Sprintf("kept off each %s where they are: %s", per(t.TopologyKey), why)
}

func affinity(t observer.PodTerm) string {
	why := fmt.Sprintf("%s to %s on %s", strength(t, "affinity"), whom(t), t.TopologyKey)
	switch {
	case t.Selects == observer.SelectsNone && t.Required:
		return "fits nowhere: " + why
	case t.Selects == observer.SelectsNone:
		return "prefers nothing: " + why
	case !t.Required:
		return fmt.Sprintf("prefers the same %s: %s", per(t.TopologyKey), why)
	}
	return fmt.Sprintf("held to the same %s: %s", per(t.TopologyKey), why)
}

func spread(s observer.Spread) string {
	whom := map[string]string{observer.SelectsSelf: "its pods", observer.SelectsOther: "other pods", observer.SelectsAll: "all pods of its namespace",
		observer.SelectsNone: "no pods"}[s.Selects]
	verb, kind := "held to spread", "hard"
	if s.WhenUnsatisfiable == "ScheduleAnyway" {
		verb, kind = "prefers to spread", "a preference"
	}
	groups := strings.Replace(per(s.TopologyKey), "value", "values", 1)
	if !strings.HasPrefix(groups, "values") {
		groups += "s"
	}
	text := fmt.Sprintf("%s %s evenly over %s, at most %d apart: topology spread on %s, %s", verb, whom, groups, s.MaxSkew, s.TopologyKey, kind)
	if s.MinDomains > 1 {
		text += fmt.Sprintf(", over at least %d", s.MinDomains)
	}
	if s.NodeAffinityPolicy == "Ignore" {
		text += "; nodes that it may not run on count too"
	}
	if s.NodeTaintsPolicy == "Honor" {
		text += "; nodes whose taints it does not tolerate do not count"
	} else {
		text += "; nodes whose taints it does not tolerate count too"
	}
	return text
}
