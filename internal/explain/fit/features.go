package fit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
)

// Version is that of the Kubernetes whose scheduler's semantics these are.
const Version = "1.37"

// features finds what the pod needs and the node does not declare that it can.
func features(q *question) filter {
	all := nodedeclaredfeatures.DefaultFramework
	needs, err := all.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &q.pod.Spec}, version.MustParseGeneric(Version))
	if err != nil || needs.IsEmpty() {
		return nil
	}
	return func(n *node, v *Verdict) {
		result, err := all.MatchNode(needs, n.Node)
		if err != nil || result.IsMatch {
			return
		}
		for _, name := range result.UnsatisfiedRequirements {
			v.add(Reason{Kind: NodeFeature, Plugin: PluginFeatures, Name: name, Words: "node(s) didn't match Pod's required features",
				text: fmt.Sprintf("the node does not declare %s, which the pod needs", name)})
		}
	}
}
