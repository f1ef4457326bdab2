package realnode

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/devplane/internal/nodefile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// containerdConfig is for containerd 1.6 and later (version 2 of the format, which containerd 2
// still reads).
func (n *Node) containerdConfig() string {
	// restrict_oom_score_adj: without CAP_SYS_RESOURCE runc can't lower the score, and fails with
	// "can't get final child's PID from pipe".
	return fmt.Sprintf(`version = 2
root = %[1]q
state = %[2]q
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = %[3]q
[plugins."io.containerd.internal.v1.opt"]
  path = %[4]q
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  sandbox_image = %[5]q
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %[6]q
    conf_dir = %[7]q
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = %[8]q
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = %[9]q
`, n.dir("containerd"), n.run("containerd"), n.socket(), n.dir("opt"), PauseImage,
		cniDir(), n.dir("cni"), n.dir("certs.d"), n.run("runc"))
}

// cniConfig puts pods on the node's own bridge. The bridge has its address already, so the
// plugin need not make itself a gateway, which would switch on the machine's IP forwarding.
func (n *Node) cniConfig() any {
	type object = map[string]any
	return object{
		"cniVersion": "0.4.0", "name": network(n.in(), n.Index),
		"plugins": []any{
			object{"type": "bridge", "bridge": n.in().Bridge(n.Index), "isGateway": false, "ipMasq": false,
				"ipam": object{
					"type": "host-local", "dataDir": n.dir("cni-addresses"),
					"ranges": []any{[]any{object{"subnet": n.in().PodSubnet(n.Index), "gateway": n.Address()}}},
				}},
			object{"type": "loopback"},
		},
	}
}

// kubeletConfig is a KubeletConfiguration, v1beta1.
func (n *Node) kubeletConfig() any {
	type object = map[string]any
	lease := max(int(n.plane.NodeGrace.Seconds())/2, 4) // renewed at a quarter of this
	c := object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"authentication": object{
			"anonymous": object{"enabled": false}, "webhook": object{"enabled": true},
			"x509": object{"clientCAFile": n.plane.CA.File()}},
		"authorization":            object{"mode": "Webhook"},
		"tlsCertFile":              n.serving.Cert,
		"tlsPrivateKeyFile":        n.serving.Key,
		"address":                  n.Address(),
		"port":                     10250, // the address is the node's own
		"readOnlyPort":             0,
		"healthzPort":              0,
		"containerRuntimeEndpoint": "unix://" + n.socket(),
		"cgroupDriver":             "cgroupfs",
		"cgroupRoot":               n.cgroup(),
		"failCgroupV1":             false,
		"failSwapOn":               false,
		"enforceNodeAllocatable":   []string{},
		"makeIPTablesUtilChains":   false,
		"resolvConf":               "",
		"podLogsDir":               n.dir("pods"),
		"containerLogMaxSize":      "16Mi",
		"maxPods":                  n.maxPods(),
		"serializeImagePulls":      false,
		// The disk is the developer's: neither evict nor collect images because it is full.
		"evictionHard":                object{"memory.available": evictionMemory.String()},
		"imageGCHighThresholdPercent": 100,
		"nodeStatusUpdateFrequency":   "2s",
		"nodeLeaseDurationSeconds":    lease,
		"registerWithTaints":          n.Taints,
	}
	if r := n.reserved(); len(r) > 0 {
		c["systemReserved"] = r
	}
	if g := gates(n.plane.FeatureGates); len(g) > 0 {
		c["featureGates"] = g
	}
	return c
}

func (n *Node) maxPods() int64 {
	if q, ok := n.Capacity[corev1.ResourcePods]; ok {
		return q.Value()
	}
	return 50 // a node's subnet has 61 addresses for pods
}

// evictionMemory is how little free memory makes the kubelet evict; it is not allocatable.
var evictionMemory = resource.MustParse("50Mi")

// reserved is what has to be set aside so that the node's allocatable is what the node file says.
func (n *Node) reserved() map[string]string {
	r := map[string]string{}
	for name, have := range Machine() {
		want, ok := n.Capacity[name]
		if !ok {
			continue
		}
		have.Sub(want)
		if name == corev1.ResourceMemory {
			have.Sub(evictionMemory)
		}
		if have.Sign() > 0 {
			r[string(name)] = have.String()
		}
	}
	return r
}

// Extended is the part of capacity that no kubelet finds by itself; it is written to the node's
// status, as the Kubernetes documentation describes for extended resources.
func Extended(capacity corev1.ResourceList) corev1.ResourceList {
	ext := corev1.ResourceList{}
	for name, q := range capacity {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		default:
			ext[name] = q
		}
	}
	return ext
}

// CheckCapacity reports what a real node can't have because the machine has less.
func CheckCapacity(node nodefile.Node) error {
	var over []string
	machine := Machine()
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		want, ok := node.Capacity[name]
		have := machine[name]
		if ok && !have.IsZero() && want.Cmp(have) > 0 {
			over = append(over, fmt.Sprintf("%s %s (the machine has %s)", name, want.String(), have.String()))
		}
	}
	if over == nil {
		return nil
	}
	return fmt.Errorf("a real node of pool %s can't have %s: leave it out or use kind process", node.Pool, strings.Join(over, ", "))
}

func gates(s string) map[string]bool {
	m := map[string]bool{}
	for _, g := range strings.Split(s, ",") {
		if name, value, ok := strings.Cut(g, "="); ok {
			m[name] = value == "true"
		}
	}
	return m
}

func quantity(v int64, f resource.Format) resource.Quantity { return *resource.NewQuantity(v, f) }
