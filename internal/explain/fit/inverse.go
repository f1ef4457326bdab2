package fit

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// domain is a topology and one of its values.
type domain struct{ key, value string }

// repels is a rule of other pods that mean the pod, in one domain. Pods of one controller have one rule.
type repels struct {
	hits
	path string
}

// ruleKey tells rules apart: by who owns them, and which of his they are.
type ruleKey struct {
	owner types.UID
	pod   *carried // if nobody owns it
	path  string
}

// repelled finds the rules of other pods that keep this one away.
func (q *question) repelled() filter {
	namespace := q.namespaceLabels()
	domains := map[domain]map[ruleKey]*repels{}
	unknown := false
	for r := range q.rulesFor(q.pod.Namespace) {
		value, there := r.node.Labels[r.key]
		if !there || !r.selector.Matches(labels.Set(q.pod.Labels)) {
			continue
		}
		if !slices.Contains(r.namespaces, q.pod.Namespace) {
			if q.Namespaces == nil && r.choosesNamespaces() {
				unknown = true
				continue
			}
			if !r.namespaceSelector.Matches(namespace) {
				continue
			}
		}
		rules := domains[domain{r.key, value}]
		if rules == nil {
			rules = map[ruleKey]*repels{}
			domains[domain{r.key, value}] = rules
		}
		key := ruleOf(r)
		if rules[key] == nil {
			rules[key] = &repels{path: r.path}
		}
		rules[key].add(r.carried)
	}
	if len(domains) == 0 && !unknown {
		return nil
	}
	sorted, keys := sortedRules(domains), topologyKeys(domains)
	return func(n *node, v *Verdict) {
		for _, key := range keys {
			value, there := n.Labels[key]
			if !there {
				continue
			}
			for _, r := range sorted[domain{key, value}] {
				v.add(Reason{Kind: AntiInverse, Plugin: PluginPodAffinity, Words: wordsInverse, Other: r.first.ref(r.path), More: r.count - 1,
					Topology: &Topology{key, value, true}})
			}
		}
		if unknown {
			v.unknown("namespaces", "they could not be read, and other pods' anti-affinity chooses some by their labels")
		}
	}
}

func ruleOf(r rule) ruleKey {
	if owner := metav1.GetControllerOfNoCopy(r.Pod); owner != nil {
		return ruleKey{owner: owner.UID, path: r.path}
	}
	return ruleKey{pod: r.carried, path: r.path}
}

func sortedRules(domains map[domain]map[ruleKey]*repels) map[domain][]*repels {
	sorted := make(map[domain][]*repels, len(domains))
	for d, rules := range domains {
		sorted[d] = slices.SortedFunc(maps.Values(rules), func(a, b *repels) int {
			return cmp.Or(cmp.Compare(a.first.Namespace, b.first.Namespace), cmp.Compare(a.first.Name, b.first.Name), cmp.Compare(a.path, b.path))
		})
	}
	return sorted
}

func topologyKeys(domains map[domain]map[ruleKey]*repels) []string {
	keys := map[string]bool{}
	for d := range domains {
		keys[d.key] = true
	}
	return sortedKeys(keys)
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
