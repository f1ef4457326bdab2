package fit

// apart finds the terms of the pod's anti-affinity that mean a pod in the node's domain.
func (q *question) apart(terms []podTerm) filter {
	if len(terms) == 0 {
		return nil
	}
	domains := make([]map[string]*hits, len(terms))
	kinds, about := make([]Kind, len(terms)), make([]string, len(terms))
	for i := range terms {
		domains[i], kinds[i], about[i] = map[string]*hits{}, AntiOther, terms[i].about()
		if q.itself(terms[i : i+1]) {
			kinds[i] = AntiSelf
		}
		q.meant(terms[i:i+1], func(c *carried) { hit(domains[i], c, terms[i].key) })
	}
	return func(n *node, v *Verdict) {
		for i := range terms {
			t := &terms[i]
			value, there := n.Labels[t.key]
			r := Reason{Kind: kinds[i], Plugin: PluginPodAffinity, Path: t.path, Words: wordsAnti, text: about[i], Topology: &Topology{t.key, value, there}}
			switch h := domains[i][value]; {
			case !there: // and so the rule holds nothing back
				r.Kind, r.void = TopologyMissing, true
				v.note(r)
			case h != nil:
				r.Other, r.More = h.first.ref(""), h.count-1
				v.add(r)
			}
		}
		v.namespacesFor(q, terms)
	}
}
