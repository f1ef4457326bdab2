package explain

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/explain/fit"
)

// Facts is what is known of a cluster. A nil list could not be read; an empty one is empty.
type Facts struct {
	fit.Objects
	OwnPods        []*corev1.Pod // if Pods can't be read: those of the namespace that is asked about
	Owners         []*Owner      // controllers that own pods, and those that own these
	Budgets        []*policyv1.PodDisruptionBudget
	RuntimeClasses []*RuntimeClass
	NodePools      []*Pool  // Karpenter's NodePools; nil also if there is no Karpenter
	NodeClaims     []*Claim // Karpenter's NodeClaims, likewise
	Groups         []Group  // the cluster autoscaler's
	Unread         []Unread // everything that is nil above for want of a right, and why
	Written        bool     // the objects are as someone wrote them: no API server has added anything
}

// Unread is what could not be read.
type Unread struct {
	What string `json:"what" yaml:"what,required" doc:"what is not known"`
	Why  string `json:"why" yaml:"why,required" doc:"why not: a right that is missing, or that no API shows it"`
}

// Owner is a controller: what it makes pods from, and what owns it in turn.
type Owner struct {
	Kind, Namespace, Name string
	UID                   types.UID
	Controller            *metav1.OwnerReference // of it; nil if there is none
	Replicas              int32                  // that it should have; -1 if that is no fixed number
	Template              *corev1.PodTemplateSpec
}

// RuntimeClass is what a runtime class demands of nodes.
type RuntimeClass struct {
	Name         string
	NodeSelector map[string]string
	Tolerations  []corev1.Toleration
}

// Pool is a Karpenter NodePool, as far as it says which nodes are left alone.
type Pool struct {
	Name             string
	Policy           string // consolidationPolicy: WhenEmpty, WhenEmptyOrUnderutilized
	ConsolidateAfter string // duration, or Never
	Budgets          []PoolBudget
	Requirements     []corev1.NodeSelectorRequirement
	Labels           map[string]string
	Taints           []corev1.Taint
}

// PoolBudget bounds how many of a pool's nodes may be disrupted at once.
type PoolBudget struct {
	Nodes    string // a number, or a percentage
	Schedule string // cron; empty for always
	Reasons  []string
}

// Claim is a Karpenter NodeClaim.
type Claim struct {
	Name, Node, Pool string
	Annotations      map[string]string
}

// Group is a node group of the cluster autoscaler.
type Group struct {
	Name           string
	Size, Min, Max int // in nodes
}
