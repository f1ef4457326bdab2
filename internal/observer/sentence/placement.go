package sentence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// forbids says what forbids the pods another node, then what speaks against one, then the rest.
func (w *writer) forbids(records []*observer.Record) {
	r := records[0]
	p := r.Pod.Placement
	if p == nil {
		p = &observer.Placement{}
	}
	var hard, soft []string
	for _, r := range records {
		hard = append(hard, hostPorts(r.Ports)...)
	}
	for _, k := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		hard = append(hard, fmt.Sprintf("held to nodes with %s=%s: node selector", k, p.NodeSelector[k]))
	}
	h, s := nodeAffinity(p.NodeAffinity)
	hard, soft = append(hard, h...), append(soft, s...)
	add := func(required bool, text string) {
		if required {
			hard = append(hard, text)
		} else {
			soft = append(soft, text)
		}
	}
	for _, t := range p.PodAntiAffinity {
		add(t.Required, antiAffinity(t))
	}
	for _, t := range p.PodAffinity {
		add(t.Required, affinity(t))
	}
	for _, t := range p.TopologySpread {
		add(t.WhenUnsatisfiable != "ScheduleAnyway", spread(t))
	}
	for _, g := range p.SchedulingGates {
		hard = append(hard, "waits until somebody removes the scheduling gate "+g)
	}
	if p.ResourceClaims > 0 {
		hard = append(hard, "held to nodes that have what its "+plural(p.ResourceClaims, "device claim")+" ask for")
	}
	incomplete := incompleteOf(records)
	switch {
	case len(hard) > 0:
	case len(incomplete) > 0:
		hard = append(hard, "what forbids another node is not all known: see below")
	case r.WorkloadKind == "Node":
		hard = append(hard, "runs on this node and on no other")
	case r.WorkloadKind == "DaemonSet":
		hard = append(hard, "one on each node that it fits: a DaemonSet (its own required node affinity is not visible)")
	default:
		hard = append(hard, "nothing that it asks for forbids another node")
	}
	for _, text := range slices.Concat(hard, soft, rest(p)) {
		w.line("    - %s", text)
	}
	if len(incomplete) > 0 {
		w.line("    ! incomplete: of %s something was left out, since it was past a bound; there is more than is said here", list(incomplete, "and"))
	}
}

func incompleteOf(records []*observer.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.Incomplete...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func hostPorts(ports []observer.Port) []string {
	var all []string
	for _, p := range ports {
		if p.HostPort != 0 {
			all = append(all, fmt.Sprintf("held one per node: it takes port %d/%s of its node", p.HostPort, p.Protocol))
		}
	}
	return all
}

// nodeAffinity says the required terms in one sentence, since one of them must hold, and each preferred one.
func nodeAffinity(all []observer.NodeExpression) (hard, soft []string) {
	var required, preferred []observer.NodeExpression
	for _, e := range all {
		if e.Required {
			required = append(required, e)
		} else {
			preferred = append(preferred, e)
		}
	}
	var terms []string
	for _, t := range termsOf(required) {
		terms = append(terms, conjunction(t))
	}
	if len(terms) > 0 {
		if len(terms) > 1 {
			for i := range terms {
				terms[i] = "(" + terms[i] + ")"
			}
		}
		hard = []string{"held to nodes where " + strings.Join(terms, " or ") + ": required node affinity"}
	}
	for _, t := range termsOf(preferred) {
		soft = append(soft, fmt.Sprintf("prefers nodes where %s, weight %d", conjunction(t), t[0].Weight))
	}
	return hard, soft
}

// termsOf splits expressions into their terms, which follow each other.
func termsOf(all []observer.NodeExpression) [][]observer.NodeExpression {
	var terms [][]observer.NodeExpression
	for i, e := range all {
		if i == 0 || all[i-1].Term != e.Term {
			terms = append(terms, nil)
		}
		terms[len(terms)-1] = append(terms[len(terms)-1], e)
	}
	return terms
}

func conjunction(term []observer.NodeExpression) string {
	var all []string
	for _, e := range term {
		all = append(all, expression(e))
	}
	return strings.Join(all, " and ")
}

func expression(e observer.NodeExpression) string {
	key := e.Key
	if e.Field && key == "metadata.name" {
		key = "the node's name"
	}
	values := list(e.Values, "or")
	if len(e.Values) == 0 {
		values = "values that are not told"
	}
	switch e.Operator {
	case "In":
		return key + " is " + values
	case "NotIn":
		return key + " is not " + values
	case "Exists":
		return "there is " + key
	case "DoesNotExist":
		return "there is no " + key
	case "Gt":
		return key + " is more than " + values
	case "Lt":
		return key + " is less than " + values
	case observer.OperatorNothing:
		return "nothing holds (a term without expressions, which no node matches)"
	}
	return key + " " + e.Operator + " " + values
}

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

// rest is what forbids no node, and changes what happens.
func rest(p *observer.Placement) []string {
	var all []string
	for _, t := range p.Tolerations {
		all = append(all, toleration(t))
	}
	if p.PriorityClass != "" || p.Priority != 0 {
		all = append(all, strings.TrimSpace(fmt.Sprintf("priority %d %s", p.Priority, p.PriorityClass)))
	}
	if p.PreemptionPolicy != "" {
		all = append(all, "drives out no pods of lower priority")
	}
	if p.HostNetwork {
		all = append(all, "uses the network of its node")
	}
	if p.SchedulerName != "" {
		all = append(all, "is scheduled by "+p.SchedulerName+", not by Kubernetes' own scheduler")
	}
	if p.RuntimeClass != "" {
		all = append(all, "runs under the runtime class "+p.RuntimeClass+", which may choose nodes of its own")
	}
	if g := p.TerminationGraceSeconds; g != nil {
		all = append(all, fmt.Sprintf("may take %d s to stop", *g))
	}
	return all
}

func toleration(t observer.Toleration) string {
	taint := t.Key
	switch {
	case t.Key == "":
		taint = "any taint"
	case t.Operator == "Equal" || t.Operator == "":
		taint += "=" + t.Value
	case t.Operator == "Gt":
		taint += " > " + t.Value
	case t.Operator == "Lt":
		taint += " < " + t.Value
	}
	text := "may run on nodes tainted " + taint
	if t.Key == "" {
		text = "may run on nodes with any taint"
	}
	if t.Effect != "" {
		text += " (" + t.Effect + ")"
	}
	if t.Seconds != nil {
		text += fmt.Sprintf(", and stays %d s once the taint appears", *t.Seconds)
	}
	return text
}
