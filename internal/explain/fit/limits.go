package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// handle is a volume to a CSI driver. One that is to be made has none yet, and goes by its claim.
type handle struct{ driver, id string }

// limits finds drivers that are not on the node and insist on it, and drivers that can't attach as many
// volumes more. Volumes of kinds from before CSI that a driver has taken over are not counted.
func limits(q *question) filter {
	wants := q.handles(q.pod)
	if len(wants) == 0 || q.Volumes == nil {
		return nil // that these are not known is binding's to say
	}
	if q.CSINodes == nil {
		return alwaysUnknown("CSI nodes", "they could not be read, and say how many volumes a node can attach")
	}
	drivers := map[string]string{} // and where the pod asks for a volume of it
	for h, path := range wants {
		if drivers[h.driver] == "" || path < drivers[h.driver] {
			drivers[h.driver] = path
		}
	}
	names := sortedKeys(drivers)
	return func(n *node, v *Verdict) {
		if q.CSIDrivers == nil {
			v.unknown("CSI drivers", "they could not be read, and may have to be on the node")
		}
		csi := q.csiNodes[n.Name]
		from := len(v.Reasons)
		for _, driver := range names {
			if r, missing := q.missing(driver, csi); missing {
				r.Path = drivers[driver]
				v.add(r)
			}
		}
		quiet := len(v.Reasons) > from
		for _, driver := range names {
			r, exceeded := q.exceeded(driver, csi, n, wants, v)
			if !exceeded {
				continue
			}
			if r.Path = drivers[driver]; quiet {
				r.Words = ""
			}
			v.add(r)
		}
	}
}

// missing is about a driver that must be on a node for volumes of it.
func (q *question) missing(driver string, csi *storagev1.CSINode) (Reason, bool) {
	d := q.csiDrivers[driver]
	if d == nil || d.Spec.PreventPodSchedulingIfMissing == nil || !*d.Spec.PreventPodSchedulingIfMissing || on(csi, driver) != nil {
		return Reason{}, false
	}
	return Reason{Kind: DriverMissing, Plugin: PluginLimits, Name: driver, Words: driver + " CSI driver is not installed on the node",
		Other: &Ref{Kind: "CSIDriver", Name: driver}, text: fmt.Sprintf("the CSI driver %s is not on the node", driver)}, true
}

func on(csi *storagev1.CSINode, driver string) *storagev1.CSINodeDriver {
	if csi != nil {
		for i := range csi.Spec.Drivers {
			if csi.Spec.Drivers[i].Name == driver {
				return &csi.Spec.Drivers[i]
			}
		}
	}
	return nil
}

// exceeded counts volumes of a driver: those of pods on the node and those that are attached to it, each
// once, and those that the pod brings.
func (q *question) exceeded(driver string, csi *storagev1.CSINode, n *node, wants map[handle]string, v *Verdict) (Reason, bool) {
	d := on(csi, driver)
	if d == nil || d.Allocatable == nil || d.Allocatable.Count == nil {
		return Reason{}, false
	}
	there := map[handle]bool{}
	for c := range q.on(n) {
		for h := range q.handles(c.Pod) {
			there[h] = h.driver == driver
		}
	}
	use := Volumes{Driver: driver, Limit: int(*d.Allocatable.Count)}
	for h := range wants {
		if h.driver == driver && !there[h] {
			use.New++
		}
	}
	for _, a := range q.attached[n.Name] {
		if h, ok := q.attachment(a); ok && h.driver == driver {
			there[h] = true
		}
	}
	for _, of := range there {
		if of {
			use.Attached++
		}
	}
	if q.Attachments == nil {
		v.unknown("volume attachments", "they could not be read, and count against the node's limit")
	}
	if use.New == 0 || use.Attached+use.New <= use.Limit {
		return Reason{}, false
	}
	return Reason{Kind: AttachLimit, Plugin: PluginLimits, Words: "node(s) exceed max volume count", Volumes: &use, Other: &Ref{Kind: "CSINode", Name: n.Name}}, true
}

func (q *question) attachment(a *storagev1.VolumeAttachment) (handle, bool) {
	if a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
		return handle{}, false
	}
	pv := q.volumes[*a.Spec.Source.PersistentVolumeName]
	if pv == nil || pv.Spec.CSI == nil {
		return handle{}, false
	}
	return handle{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}, true
}

// handles are the volumes of a pod that drivers attach, and where the pod names them.
func (q *question) handles(pod *corev1.Pod) map[handle]string {
	var handles map[handle]string
	for i := range pod.Spec.Volumes {
		name, _ := claimName(pod, &pod.Spec.Volumes[i])
		claim := q.claims[types.NamespacedName{Namespace: pod.Namespace, Name: name}]
		if name == "" || claim == nil {
			continue
		}
		h := handle{}
		if pv := q.volumes[claim.Spec.VolumeName]; pv != nil {
			if pv.Spec.CSI != nil {
				h = handle{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle}
			}
		} else if class := q.classes[classOfClaim(claim)]; class != nil {
			h = handle{class.Provisioner, "\x00" + claim.Namespace + "/" + claim.Name}
		}
		if h.driver == "" || h.id == "" {
			continue
		}
		if handles == nil {
			handles = map[handle]string{}
		}
		handles[h] = fmt.Sprintf("spec.volumes[%d]", i)
	}
	return handles
}
