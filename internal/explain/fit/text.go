package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// String is the reason in one line, to be read beside the names of pod and node.
func (r Reason) String() string {
	switch r.Kind {
	case Gate:
		return fmt.Sprintf("the scheduling gate %s holds it", r.Name)
	case NodeName:
		switch {
		case r.Label != nil:
			return r.Label.String() + " (nodeSelector)"
		case len(r.Terms) > 0:
			return "affinity: " + oneOf(r.Terms)
		}
		return fmt.Sprintf("nodeName is %s", r.Name)
	case Cordoned:
		return "the node is cordoned"
	case Taint:
		return fmt.Sprintf("taint %s is not tolerated", r.Taint.ToString())
	case NodeSelector:
		return r.Label.String() + " (nodeSelector)"
	case NodeAffinity, Contradiction:
		return "affinity: " + oneOf(r.Terms)
	case PodCount, Resources:
		return r.Amount.String()
	case VolumeInUse:
		return fmt.Sprintf("the disk %s is in use on the node, by %s", r.Name, r.others())
	case ClaimInUse:
		return fmt.Sprintf("claim %s is for one pod at a time, and %s has it", r.Name, r.others())
	case AttachLimit:
		return fmt.Sprintf("the node can have %d volumes of %s and has %d, and the pod brings %d", r.Volumes.Limit, r.Volumes.Driver, r.Volumes.Attached, r.Volumes.New)
	case HostPort:
		return fmt.Sprintf("host port %d/%s%s is in use by %s", r.Port.Number, r.Port.Protocol, r.Port.at(), r.others())
	case Spread:
		return r.Skew.String() + fmt.Sprintf(" (%s by %s)", r.text, r.Topology.Key)
	case TopologyMissing, PodAffinity, AntiSelf, AntiOther, AntiInverse:
		return r.between()
	default:
		return r.text
	}
}

// between says what other pods have to do with it.
func (r Reason) between() string {
	t := r.Topology
	switch {
	case r.void:
		return fmt.Sprintf("the node has no label %s, so that anti-affinity to %s is void here", t.Key, r.text)
	case r.Kind == TopologyMissing && r.Plugin == PluginSpread:
		return fmt.Sprintf("the node has no label %s, by which pods are spread", t.Key) + r.Skew.few()
	case r.Kind == TopologyMissing:
		return fmt.Sprintf("the node has no label %s, by which it has to be near %s", t.Key, r.text)
	case r.Kind == PodAffinity && r.nowhere:
		return fmt.Sprintf("it has to be near %s, and there are none", r.text)
	case r.Kind == PodAffinity:
		return fmt.Sprintf("it has to be near %s, and there are none in %s", r.text, t)
	case r.Kind == AntiInverse:
		return fmt.Sprintf("the anti-affinity of %s keeps it out of %s", r.others(), t)
	case r.Kind == AntiSelf:
		return fmt.Sprintf("it has to be apart from %s, as it is itself: in %s is %s", r.text, t, r.others())
	default:
		return fmt.Sprintf("it has to be apart from %s: in %s is %s", r.text, t, r.others())
	}
}

// others names the other object, and how many more there are.
func (r Reason) others() string {
	name := r.Other.Name
	if r.Other.Namespace != "" {
		name = r.Other.Namespace + "/" + name
	}
	if r.More > 0 {
		name += fmt.Sprintf(" and %d more", r.More)
	}
	return name
}

// String is the domain: zone a.
func (t Topology) String() string { return t.Key + " " + value(t.Value) }

// at is the address, if it is one.
func (p Port) at() string {
	if p.Address == everyAddress {
		return ""
	}
	return " of " + p.Address
}

// String says why one more is too many.
func (s Skew) String() string {
	text := fmt.Sprintf("%d here, and with this one %d, against %d where there are fewest: maxSkew is %d", s.Matching, s.Matching+s.Self, s.Least, s.Most)
	return text + s.few()
}

// few says if that is for want of domains.
func (s Skew) few() string {
	text := ""
	switch {
	case s.Domains == 1:
		text = "; only 1 domain exists"
	case s.Domains < s.MinDomains:
		text = fmt.Sprintf("; only %d domains exist", s.Domains)
	}
	if s.Domains < s.MinDomains {
		text += fmt.Sprintf(", and minDomains is %d", s.MinDomains)
	}
	return text
}

// String says what is asked for and what there is.
func (a Amount) String() string {
	pods := a.Resource == corev1.ResourcePods
	free := a.Allocatable.DeepCopy()
	free.Sub(a.Used)
	switch {
	case pods && a.Allocatable.IsZero():
		return "the node takes no pods"
	case pods:
		return fmt.Sprintf("of %s pods that the node takes it has %s", a.Allocatable.String(), a.Used.String())
	case a.Allocatable.IsZero():
		return fmt.Sprintf("requests %s %s, the node has none", a.Resource, a.Requested.String())
	case a.Used.IsZero():
		return fmt.Sprintf("requests %s %s, the node has %s", a.Resource, a.Requested.String(), a.Allocatable.String())
	default:
		return fmt.Sprintf("requests %s %s, of %s of the node %s are free", a.Resource, a.Requested.String(), a.Allocatable.String(), free.String())
	}
}
