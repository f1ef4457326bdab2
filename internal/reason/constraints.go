package reason

// What the pod and the node are.
const (
	NodeSelector          Code = "node_selector"
	NodeAffinityRequired  Code = "node_affinity_required"
	NodeAffinityPreferred Code = "node_affinity_preferred"
	NodeNamePin           Code = "node_name_pin"
	NodeTaint             Code = "node_taint"
	UnschedulableNode     Code = "unschedulable_node"
	ToleratesCordon       Code = "tolerates_cordon"
	Resources             Code = "resources"
	PodCount              Code = "pod_count"
	HostPort              Code = "host_port"
	RuntimeClass          Code = "runtime_class"
	SchedulerName         Code = "scheduler_name"
	ResourceClaim         Code = "resource_claim"
	NodeFeature           Code = "node_feature"
	Contradiction         Code = "contradiction"
)

// What other pods are.
const (
	AntiAffinitySelf      Code = "anti_affinity_self"
	AntiAffinityOther     Code = "anti_affinity_other"
	AntiAffinityInverse   Code = "anti_affinity_inverse"
	AntiAffinityPreferred Code = "anti_affinity_preferred"
	PodAffinity           Code = "pod_affinity"
	PodAffinityPreferred  Code = "pod_affinity_preferred"
	SpreadHard            Code = "spread_hard"
	SpreadSoft            Code = "spread_soft"
	TopologyKeyMissing    Code = "topology_key_missing"
	DeadSelector          Code = "dead_selector"
)

// What volumes are.
const (
	VolumeZone    Code = "volume_zone"
	VolumeLocal   Code = "volume_local"
	VolumeUnbound Code = "volume_unbound"
	AttachLimit   Code = "attach_limit"
	RWOPInUse     Code = "rwop_in_use"
	VolumeInUse   Code = "volume_in_use"
	DriverMissing Code = "driver_missing"
)

// What stops the removal of a pod that runs, or what it costs.
const (
	PDBZeroNow       Code = "pdb_zero_now"
	PDBNever         Code = "pdb_never"
	PDBMultiple      Code = "pdb_multiple"
	PDBStale         Code = "pdb_stale"
	BarePod          Code = "bare_pod"
	CustomOwner      Code = "custom_owner"
	KubeSystemNoPDB  Code = "kube_system_no_pdb"
	MirrorPod        Code = "mirror_pod"
	DaemonSetPod     Code = "daemonset"
	SafeToEvictFalse Code = "safe_to_evict_false"
	DoNotDisrupt     Code = "do_not_disrupt"
	LocalStorage     Code = "local_storage"
	GracePeriod      Code = "grace_period"
	SingleReplica    Code = "single_replica"
	JobRestarts      Code = "job_restarts"
)

// What the one who makes and removes nodes was told.
const (
	NodePoolPolicy       Code = "nodepool_policy"
	DisruptionBudget     Code = "disruption_budget"
	ConsolidateAfter     Code = "consolidate_after"
	InstanceRequirements Code = "instance_requirements"
	GroupMinSize         Code = "group_min_size"
	ScaleDownDisabled    Code = "scale_down_disabled"
)

// What a right is called here: verb, resource, and where.
const (
	listNodes    = "list nodes"
	listPods     = "list pods in all namespaces"
	listBudgets  = "list poddisruptionbudgets in the namespace"
	getVolumes   = "list persistentvolumeclaims in the namespace, list persistentvolumes, list storageclasses"
	getOwner     = "get the controllers that own the pod"
	listPools    = "list nodepools and nodeclaims of karpenter.sh"
	listCSINodes = "list csinodes"
)

var (
	places  = []Engine{Scheduler, Karpenter, ClusterAutoscaler, Descheduler} // all that ask whether a pod fits
	removes = []Engine{Eviction, Karpenter, ClusterAutoscaler, Descheduler}  // all that go through the eviction API
	only    = func(e ...Engine) []Engine { return e }
)

// Constraints are all of them, in the order in which the reference lists them.
var Constraints = []Constraint{
	{NodeSelector, OnNodes, "nodeSelector", "The pod's nodeSelector wants a label that the node does not have. Remove the entry, or label a node.", Hard, ScopePod, places, listNodes},
	{NodeAffinityRequired, OnNodes, "required node affinity", "None of the terms of the pod's required node affinity matches the node. Terms are alternatives; all expressions of one must hold.", Hard, ScopePod, places, listNodes},
	{NodeAffinityPreferred, OnNodes, "preferred node affinity", "The scheduler prefers nodes that match, and takes others when it must. It is never why a pod waits.", Soft, ScopePod, only(Scheduler, Karpenter), ""},
	{NodeNamePin, OnNodes, "pinned to nodes by name", "The pod names the nodes that it may be on: by matchFields, by the hostname label, or by spec.nodeName. When they go, it waits for ever.", Hard, ScopePod, places, listNodes},
	{NodeTaint, OnNodes, "a taint is not tolerated", "The node has a NoSchedule or NoExecute taint that the pod does not tolerate. Tolerate it, if the pod may be there.", Hard, ScopeNode, places, listNodes},
	{UnschedulableNode, OnNodes, "the node is cordoned", "Someone has cordoned the node, and new pods are kept away. kubectl uncordon ends it.", Hard, ScopeNode, places, listNodes},
	{ToleratesCordon, OnNodes, "tolerates the cordon", "The pod tolerates the taint of cordoned nodes, as one that tolerates everything does. Evicted from a node that is drained, it may land on the same node again.", Soft, ScopePod, only(Eviction, Descheduler), ""},
	{Resources, OnNodes, "not enough of a resource", "The node has less left of the resource than the pod requests, or less in all. What counts is what its pods request, not what they use.", Hard, ScopePod, places, listNodes + ", " + listPods},
	{PodCount, OnNodes, "the node has as many pods as it takes", "A node takes a fixed number of pods, whatever their size.", Hard, ScopeNode, places, listNodes + ", " + listPods},
	{HostPort, OnNodes, "a host port is taken", "Another pod on the node has the host port. Each node can have one such pod; most do not need the host's port.", Hard, ScopePod, places, listPods},
	{RuntimeClass, OnNodes, "its runtime class selects nodes", "The RuntimeClass that the pod names adds a nodeSelector and tolerations of its own.", Hard, ScopePod, places, "get runtimeclasses"},
	{SchedulerName, OnNodes, "another scheduler places it", "The pod names a scheduler that is not Kubernetes' own. What that one decides is not evaluated.", Soft, ScopePod, only(Scheduler, ClusterAutoscaler), ""},
	{Gated, OnNodes, "a scheduling gate holds it", "Something has put a scheduling gate on the pod, and the scheduler does not look at it until that one takes the gate away.", Hard, ScopePod, only(Scheduler), ""},
	{ResourceClaim, OnNodes, "claims devices", "The pod has resource claims (dynamic resource allocation). Which nodes have such devices free is not evaluated.", Hard, ScopePod, places, ""},
	{NodeFeature, OnNodes, "the node lacks a feature of the kubelet", "The pod uses something that only newer kubelets can do, and the node does not declare that it can. Update the node, or wait for one that is.", Hard, ScopeNode, only(Scheduler), listNodes},
	{Contradiction, OnNodes, "can never be satisfied", "What the pod demands of its node contradicts itself: no node could have such labels. Waiting does not help.", Hard, ScopePod, places, ""},

	{AntiAffinitySelf, OnPods, "keeps away from its own replicas", "A required anti-affinity matches the pod's own labels: each domain takes one. With as many replicas as domains, no replica can move.", Hard, ScopeWorkload, places, listPods},
	{AntiAffinityOther, OnPods, "keeps away from other pods", "A required anti-affinity keeps the pod out of domains where certain other pods are.", Hard, ScopePod, places, listPods},
	{AntiAffinityInverse, OnPods, "another pod keeps it away", "A pod that is already there has a required anti-affinity that matches this one. The rule is the other's: look at its source.", Hard, ScopePod, places, listPods},
	{AntiAffinityPreferred, OnPods, "prefers to keep away from pods", "The scheduler spreads as well as it can. It is never why a pod waits.", Soft, ScopePod, only(Scheduler, Karpenter), ""},
	{PodAffinity, OnPods, "must be near other pods", "A required pod affinity wants a domain where certain pods already are.", Hard, ScopePod, places, listPods},
	{PodAffinityPreferred, OnPods, "prefers to be near other pods", "The scheduler weighs it. It is never why a pod waits.", Soft, ScopePod, only(Scheduler, Karpenter), ""},
	{SpreadHard, OnPods, "must be spread", "A topology spread constraint with DoNotSchedule: the difference between domains may not grow over maxSkew. ScheduleAnyway makes it a preference.", Hard, ScopeWorkload, places, listPods},
	{SpreadSoft, OnPods, "is spread if possible", "A topology spread constraint with ScheduleAnyway. It is never why a pod waits.", Soft, ScopeWorkload, only(Scheduler, Karpenter), ""},
	{TopologyKeyMissing, OnPods, "nodes lack the topology key", "A rule is about a label of nodes that the node does not have, and so it belongs to no domain. Old names of the zone label are a frequent cause.", Hard, ScopePod, places, listNodes},
	{DeadSelector, OnPods, "selects pods that do not exist", "The selector of an affinity or a spread constraint matches no pod, often by a typing error. A required affinity to nobody keeps the pod waiting; an anti-affinity or a spread does nothing.", Soft, ScopePod, only(Scheduler), listPods},

	{VolumeZone, OnStorage, "its volume is in certain nodes' reach", "The volume can be reached from the nodes of a zone or region only, and so the pod can run there only.", Hard, ScopeVolume, places, getVolumes},
	{VolumeLocal, OnStorage, "its volume is on one machine", "The volume is a disk of one node. If that node is gone, the pod waits until someone deletes the claim, and with it the data.", Hard, ScopeVolume, only(Scheduler, ClusterAutoscaler, Descheduler), getVolumes},
	{VolumeUnbound, OnStorage, "its claim is not bound", "The claim has no volume, and waits for one to be made, or does not exist.", Hard, ScopeVolume, places, getVolumes},
	{AttachLimit, OnStorage, "the node has as many volumes as it can attach", "The CSI driver says how many volumes a node of this type takes, and they are attached.", Hard, ScopeNode, only(Scheduler, ClusterAutoscaler), listCSINodes + ", " + getVolumes},
	{RWOPInUse, OnStorage, "its claim is for one pod, which another is", "The claim's access mode is ReadWriteOncePod, and another pod uses it.", Hard, ScopeVolume, places, getVolumes + ", list pods in the namespace"},
	{VolumeInUse, OnStorage, "its disk is in use on the node", "A disk that only one pod of a node can have (of a kind that is not CSI) is in use there.", Hard, ScopeVolume, only(Scheduler), listPods},
	{DriverMissing, OnStorage, "the node lacks the volume's driver", "The CSI driver of the volume insists on being installed, and is not on the node.", Hard, ScopeNode, only(Scheduler), listCSINodes},

	{PDBZeroNow, OnMoving, "its budget allows no eviction now", "A PodDisruptionBudget is at its limit now: enough healthy pods, and it will allow one. Look at why replicas are not healthy.", Hard, ScopeBudget, removes, listBudgets},
	{PDBNever, OnMoving, "its budget can never allow an eviction", "The numbers of the PodDisruptionBudget leave no pod to spare even when all are healthy: minAvailable as many as replicas, or maxUnavailable 0. Add a replica, or change the budget.", Hard, ScopeBudget, removes, listBudgets + ", " + getOwner},
	{PDBMultiple, OnMoving, "two budgets have it", "More than one PodDisruptionBudget selects the pod. The eviction API then refuses, whatever the numbers say.", Hard, ScopeBudget, removes, listBudgets},
	{PDBStale, OnMoving, "its budget's status is not up to date", "The disruption controller has not seen the last change of the budget, or could not count its pods. Until it does, evictions are refused.", Hard, ScopeBudget, removes, listBudgets},
	{BarePod, OnMoving, "nobody would make it anew", "The pod has no controller: evicted, it is gone.", Hard, ScopePod, only(ClusterAutoscaler, Descheduler), ""},
	{CustomOwner, OnMoving, "a controller unknown to Kubernetes owns it", "The pod's controller is a custom resource. Whether it makes the pod anew is its business; the cluster autoscaler does not count on it.", Hard, ScopePod, only(ClusterAutoscaler), ""},
	{KubeSystemNoPDB, OnMoving, "a pod of kube-system without a budget", "The cluster autoscaler leaves such pods where they are, unless a PodDisruptionBudget says that they may be moved.", Hard, ScopeNamespace, only(ClusterAutoscaler), listBudgets},
	{MirrorPod, OnMoving, "made by the node itself", "A static pod from a file on the node. It is part of the node and goes with it; nothing moves it and it blocks nothing.", Soft, ScopeNode, only(Eviction, Descheduler), ""},
	{DaemonSetPod, OnMoving, "part of a DaemonSet", "Every node has one. It goes with its node, and blocks nothing.", Soft, ScopeWorkload, only(Eviction, Descheduler), ""},
	{SafeToEvictFalse, OnMoving, "annotated as not safe to evict", "The annotation cluster-autoscaler.kubernetes.io/safe-to-evict is \"false\".", Hard, ScopePod, only(ClusterAutoscaler), ""},
	{DoNotDisrupt, OnMoving, "annotated as not to be disrupted", "The annotation karpenter.sh/do-not-disrupt is \"true\". On a node it holds for the node and all that is on it.", Hard, ScopePod, only(Karpenter), ""},
	{LocalStorage, OnMoving, "keeps data on its node", "An emptyDir or hostPath volume would be lost. The cluster autoscaler does not remove the node, unless its flags or the annotation safe-to-evict-local-volumes say so; others do not mind.", Hard, ScopePod, only(ClusterAutoscaler), ""},
	{GracePeriod, OnMoving, "takes long to end", "Its terminationGracePeriodSeconds is long: whoever empties the node may have to wait as long.", Soft, ScopePod, only(Eviction, Karpenter, ClusterAutoscaler, Descheduler), ""},
	{SingleReplica, OnMoving, "its only replica", "Moving it is an outage, from its end until the new one is ready.", Soft, ScopeWorkload, only(Eviction, Karpenter, ClusterAutoscaler, Descheduler), getOwner},
	{JobRestarts, OnMoving, "a job begins anew", "A job's pod that is moved starts from the beginning, and its work so far is lost unless it keeps it itself.", Soft, ScopeWorkload, only(Eviction, Karpenter, ClusterAutoscaler, Descheduler), getOwner},

	{NodePoolPolicy, OnPools, "the pool's policy", "The NodePool says which nodes may be consolidated: WhenEmpty leaves each node that has a pod.", Hard, ScopeNode, only(Karpenter), listPools},
	{DisruptionBudget, OnPools, "the pool's disruption budget", "The NodePool's budgets allow no disruption: a budget of 0 nodes, always or at certain times.", Hard, ScopeNode, only(Karpenter), listPools},
	{ConsolidateAfter, OnPools, "the pool waits before it consolidates", "The NodePool's consolidateAfter: a node is left alone until no pod has come or gone for so long, with Never for ever.", Hard, ScopeNode, only(Karpenter), listPools},
	{InstanceRequirements, OnPools, "the pool makes other machines only", "The NodePool's requirements, or its taints, leave no machine that the pod could be on.", Hard, ScopeNode, only(Karpenter), listPools},
	{GroupMinSize, OnPools, "the node group is at its minimum", "The group has as few nodes as it may have. Where the cluster shows it (the autoscaler's status ConfigMap), it is read.", Hard, ScopeNode, only(ClusterAutoscaler), "get configmaps in kube-system"},
	{ScaleDownDisabled, OnPools, "the node is not to be removed", "The node's annotation cluster-autoscaler.kubernetes.io/scale-down-disabled is \"true\".", Hard, ScopeNode, only(ClusterAutoscaler), listNodes},
}
