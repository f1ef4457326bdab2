package wire

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// metadata is read of pods and nodes alike.
const metadata = "metadata.name metadata.namespace metadata.uid metadata.resourceVersion metadata.creationTimestamp metadata.labels metadata.annotations "

const container = "name image resources ports.name ports.hostPort ports.containerPort ports.protocol ports.hostIP restartPolicy"

// podFields are read of a pod. package reduce says what becomes of them.
var podFields = fields(corev1.Pod{}, metadata+"metadata.ownerReferences "+
	"spec.nodeSelector spec.nodeName spec.affinity spec.topologySpreadConstraints spec.tolerations spec.schedulerName spec.priorityClassName "+
	"spec.priority spec.preemptionPolicy spec.terminationGracePeriodSeconds spec.hostNetwork spec.runtimeClassName spec.schedulingGates "+
	"spec.resourceClaims spec.overhead spec.resources "+below("spec.containers.", container)+below("spec.initContainers.", container)+
	"status.phase status.qosClass status.conditions.type status.conditions.status status.conditions.reason status.conditions.message "+
	"status.containerStatuses.name status.containerStatuses.imageID status.initContainerStatuses.name status.initContainerStatuses.imageID")

// nodeFields are read of a node.
var nodeFields = fields(corev1.Node{}, metadata+"spec.taints spec.unschedulable status.capacity status.allocatable "+
	"status.conditions.type status.conditions.status status.conditions.reason status.conditions.lastTransitionTime "+
	"status.nodeInfo.kernelVersion status.nodeInfo.kubeletVersion status.nodeInfo.architecture status.nodeInfo.operatingSystem")

func below(path, names string) string {
	return path + strings.Join(strings.Fields(names), " "+path) + " "
}

// message says which fields of a message are kept, by number: nil keeps all that is below.
type message map[uint64]message

// fields finds the numbers of the fields at paths, in the tags of a type's fields.
func fields(object any, paths string) message {
	m := message{}
	for _, path := range strings.Fields(paths) {
		m.add(reflect.TypeOf(object), path)
	}
	return m
}

func (m message) add(t reflect.Type, path string) {
	name, rest, more := strings.Cut(path, ".")
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != name {
			continue
		}
		parts := strings.Split(f.Tag.Get("protobuf"), ",") // such as "bytes,4,opt,name=ownerReferences"
		n, err := strconv.ParseUint(parts[1], 10, 32)
		if err != nil {
			panic(err) // the types are constant
		}
		if !more {
			m[n] = nil
			return
		}
		if m[n] == nil {
			m[n] = message{}
		}
		m[n].add(f.Type, rest)
		return
	}
	panic(fmt.Sprintf("wire: %s has no field %s", t, name))
}
