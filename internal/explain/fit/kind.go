package fit

// Kind says what sort of thing stands between a pod and a node.
type Kind string

// Kinds, in the order in which the scheduler looks.
const (
	Gate            Kind = "scheduling_gate"        // a gate holds the pod, whatever the node
	NodeName        Kind = "node_name_pin"          // the pod names nodes: nodeName, metadata.name, the hostname label
	Cordoned        Kind = "unschedulable_node"     // spec.unschedulable
	Taint           Kind = "node_taint"             // NoSchedule or NoExecute, and not tolerated
	NodeSelector    Kind = "node_selector"          // a label that nodeSelector wants
	NodeAffinity    Kind = "node_affinity_required" // no term of the required node affinity matches
	Contradiction   Kind = "contradiction"          // no term of it can match any node
	HostPort        Kind = "host_port"              // another pod has the port of the machine
	PodCount        Kind = "pod_count"              // the node has as many pods as it takes
	Resources       Kind = "resources"              // too little of something is free
	VolumeInUse     Kind = "volume_in_use"          // a disk that can't be shared is in use on the node
	ClaimInUse      Kind = "rwop_in_use"            // another pod has the ReadWriteOncePod claim
	DriverMissing   Kind = "driver_missing"         // the node lacks a CSI driver that insists on being there
	AttachLimit     Kind = "attach_limit"           // the node can't attach as many volumes more
	VolumeUnbound   Kind = "volume_unbound"         // a claim has no volume, and can get none here
	VolumeLocal     Kind = "volume_local"           // the volume is on one machine, and this is another
	VolumeZone      Kind = "volume_zone"            // the volume can't be reached from here
	Spread          Kind = "spread_hard"            // the skew would be too large
	TopologyMissing Kind = "topology_key_missing"   // the node has no label with the topology key
	PodAffinity     Kind = "pod_affinity"           // no pod that it must be near
	AntiSelf        Kind = "anti_affinity_self"     // its own rule repels it from pods like itself
	AntiOther       Kind = "anti_affinity_other"    // its own rule repels it from other pods
	AntiInverse     Kind = "anti_affinity_inverse"  // another pod's rule repels it
	NodeFeature     Kind = "node_feature"           // the node does not declare a feature that the pod needs
)

// Plugin names the plugin of the scheduler that a reason would come from.
type Plugin string

// Plugins, in the order in which the scheduler v1.37 has them by default. Reasons come in this order.
const (
	PluginGates         Plugin = "SchedulingGates"
	PluginNodeName      Plugin = "NodeName"
	PluginUnschedulable Plugin = "NodeUnschedulable"
	PluginTaints        Plugin = "TaintToleration"
	PluginNodeAffinity  Plugin = "NodeAffinity"
	PluginPorts         Plugin = "NodePorts"
	PluginResources     Plugin = "NodeResourcesFit"
	PluginRestrictions  Plugin = "VolumeRestrictions"
	PluginLimits        Plugin = "NodeVolumeLimits"
	PluginBinding       Plugin = "VolumeBinding"
	PluginZone          Plugin = "VolumeZone"
	PluginSpread        Plugin = "PodTopologySpread"
	PluginPodAffinity   Plugin = "InterPodAffinity"
	PluginDevices       Plugin = "DynamicResources"
	PluginFeatures      Plugin = "NodeDeclaredFeatures"
)

// stage is where in the scheduler's work a reason comes up, which decides how it is worded.
type stage int

const (
	atNode   stage = iota // the node is looked at (Filter)
	narrowed              // the node is not among those that the pod names (PreFilter's result)
	before                // no node is looked at (PreFilter)
	gated                 // the pod is not even queued (PreEnqueue)
)
