package census

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// kind is an object that says something about placement.
type kind struct {
	group, name string
	resource    string // as kubectl lists it
	empty       func() any
}

// kinds are all of them.
var kinds = []kind{
	{"", "Pod", "pods", func() any { return &corev1.Pod{} }},
	{"", "Node", "nodes", func() any { return &corev1.Node{} }},
	{"", "Namespace", "namespaces", func() any { return &corev1.Namespace{} }},
	{"", "PersistentVolumeClaim", "persistentvolumeclaims", func() any { return &corev1.PersistentVolumeClaim{} }},
	{"", "PersistentVolume", "persistentvolumes", func() any { return &corev1.PersistentVolume{} }},
	{"", "ReplicationController", "replicationcontrollers", func() any { return &corev1.ReplicationController{} }},
	{"", "ConfigMap", "configmaps", func() any { return &corev1.ConfigMap{} }},
	{"apps", "Deployment", "deployments", func() any { return &appsv1.Deployment{} }},
	{"apps", "ReplicaSet", "replicasets", func() any { return &appsv1.ReplicaSet{} }},
	{"apps", "StatefulSet", "statefulsets", func() any { return &appsv1.StatefulSet{} }},
	{"apps", "DaemonSet", "daemonsets", func() any { return &appsv1.DaemonSet{} }},
	{"batch", "Job", "jobs", func() any { return &batchv1.Job{} }},
	{"batch", "CronJob", "cronjobs", func() any { return &batchv1.CronJob{} }},
	{"policy", "PodDisruptionBudget", "poddisruptionbudgets", func() any { return &policyv1.PodDisruptionBudget{} }},
	{"storage.k8s.io", "StorageClass", "storageclasses", func() any { return &storagev1.StorageClass{} }},
	{"storage.k8s.io", "CSINode", "csinodes", func() any { return &storagev1.CSINode{} }},
	{"storage.k8s.io", "CSIDriver", "csidrivers", func() any { return &storagev1.CSIDriver{} }},
	{"storage.k8s.io", "VolumeAttachment", "volumeattachments", func() any { return &storagev1.VolumeAttachment{} }},
	{"storage.k8s.io", "CSIStorageCapacity", "csistoragecapacities", func() any { return &storagev1.CSIStorageCapacity{} }},
	{"node.k8s.io", "RuntimeClass", "runtimeclasses", func() any { return &nodev1.RuntimeClass{} }},
	{"karpenter.sh", "NodePool", "nodepools", func() any { return &NodePool{} }},
	{"karpenter.sh", "NodeClaim", "nodeclaims", func() any { return &NodeClaim{} }},
	{"berth.dev", "Census", "", func() any { return &header{} }},
}

// kindOf finds a kind; nil if it says nothing about placement.
func kindOf(apiVersion, name string) *kind {
	group, _, versioned := strings.Cut(apiVersion, "/")
	if !versioned {
		group = ""
	}
	for i := range kinds {
		if kinds[i].name == name && kinds[i].group == group {
			return &kinds[i]
		}
	}
	return nil
}
