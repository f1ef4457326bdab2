package explain

import "github.com/berthdev/berth/internal/reason"

// Disagreement is where an engine sees a constraint otherwise than the scheduler, or than its name says.
type Disagreement struct {
	Code    reason.Code
	Engine  reason.Engine
	Says    string
	Version string // of the engine, that it was checked against
}

// disagreements gives what is known of a code, as notes.
func disagreements(code reason.Code) []string {
	var notes []string
	for _, d := range Disagreements {
		if d.Code == code {
			notes = append(notes, string(d.Engine)+" "+d.Says+" ("+d.Version+")")
		}
	}
	return notes
}

const (
	karpenterPreferences = "kubernetes-sigs/karpenter at 08de6e34f528"
	karpenterVolumes     = "kubernetes-sigs/karpenter at 09900408e89e"
	autoscalerDrain      = "kubernetes/autoscaler at 5163060390f2"
)

const hardFirst = "treats it as required first, and drops it only when it finds no machine"

// Disagreements are those that are known. The versions are commits, whose sources were read.
var Disagreements = []Disagreement{
	{reason.NodeAffinityPreferred, reason.Karpenter, hardFirst, karpenterPreferences},
	{reason.PodAffinityPreferred, reason.Karpenter, hardFirst, karpenterPreferences},
	{reason.AntiAffinityPreferred, reason.Karpenter, hardFirst, karpenterPreferences},
	{reason.SpreadSoft, reason.Karpenter, hardFirst, karpenterPreferences},
	{reason.NodeAffinityRequired, reason.Karpenter, "looks at the first term alone, and at the next one only when nothing satisfies that", karpenterPreferences},
	{reason.VolumeLocal, reason.Karpenter, "ignores which host a local volume is on, and may remove the node under it", karpenterVolumes},
	{reason.VolumeZone, reason.Karpenter, "looks at the first term of the volume's node affinity alone", karpenterVolumes},
	{reason.LocalStorage, reason.ClusterAutoscaler, "does not remove the node, where the others evict the pod and let the data go", autoscalerDrain},
}
