package fit

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// disk is a disk that a pod names itself, without a claim, and that can't be shared on a node; but by
// readers, for the kinds that have them. It is one of Kubernetes' first kinds of volumes, some of which
// no cluster can mount any more; the scheduler still looks at them.
type disk struct {
	path     string
	kind, id string
	monitors []string // Ceph RBD: disks are the same only if they share one
	readOnly bool
}

func disksOf(pod *corev1.Pod) []disk {
	var disks []disk
	for i := range pod.Spec.Volumes {
		path := fmt.Sprintf("spec.volumes[%d]", i)
		v := &pod.Spec.Volumes[i]
		if d := v.GCEPersistentDisk; d != nil {
			disks = append(disks, disk{path: path, kind: "gcePersistentDisk", id: d.PDName, readOnly: d.ReadOnly})
		}
		if d := v.AWSElasticBlockStore; d != nil {
			disks = append(disks, disk{path: path, kind: "awsElasticBlockStore", id: d.VolumeID}) // readers conflict, too
		}
		if d := v.ISCSI; d != nil {
			disks = append(disks, disk{path: path, kind: "iscsi", id: d.IQN, readOnly: d.ReadOnly})
		}
		if d := v.RBD; d != nil {
			disks = append(disks, disk{path: path, kind: "rbd", id: d.RBDPool + "/" + d.RBDImage, monitors: d.CephMonitors, readOnly: d.ReadOnly})
		}
	}
	return disks
}

func (d *disk) conflicts(o disk) bool {
	if d.kind != o.kind || d.id != o.id || d.readOnly && o.readOnly {
		return false
	}
	return d.kind != "rbd" || slices.ContainsFunc(d.monitors, func(m string) bool { return slices.Contains(o.monitors, m) })
}

// disks finds disks that other pods on the node have.
func (q *question) disks(disks []disk) filter {
	return func(n *node, v *Verdict) {
		for i := range disks {
			d := &disks[i]
			var h hits
			for c := range q.on(n) {
				if slices.ContainsFunc(disksOf(c.Pod), d.conflicts) {
					h.add(c)
				}
			}
			if h.count > 0 {
				v.add(Reason{Kind: VolumeInUse, Plugin: PluginRestrictions, Path: d.path, Words: "node(s) had no available disk", Name: d.kind + " " + d.id,
					Other: h.first.ref(""), More: h.count - 1})
			}
		}
	}
}
