// Package realnode runs real nodes: the real kubelet over containerd and runc, on a bridge device
// that gives the node an address of its own. Linux and root only.
//
// Promises:
//
//   - A node shares nothing with another containerd on the machine: roots, sockets, cgroups,
//     network and logs are its own, below the instance's folders.
//   - Nothing is pulled: the images are made here, from Debian's static busybox and the pause
//     program, and imported. A pull fails at once.
//   - The machine's IP forwarding and packet filters stay as they are. Pods reach their node and
//     the other pods of it, and nothing else.
//   - Sweep removes all of it however the node ended, also from a later process.
package realnode

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/pki"
	"github.com/berthdev/berth/devplane/internal/supervise"
)

// cniDirs are where distributions put the network plugins.
var cniDirs = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// Check says in one sentence why this machine can't run real nodes; nil if it can.
func Check() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("real nodes need Linux")
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("real nodes need root")
	}
	var missing []string
	for _, tool := range []string{"containerd", "ctr", "runc", "ip", "busybox"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, tool)
		}
	}
	if cniDir() == "" {
		missing = append(missing, "CNI plugins")
	}
	if missing != nil {
		return fmt.Errorf("real nodes need %s: apt-get install containerd runc containernetworking-plugins iproute2 busybox-static", strings.Join(missing, ", "))
	}
	return nil
}

func cniDir() string {
	for _, d := range cniDirs {
		if _, err := os.Stat(filepath.Join(d, "bridge")); err == nil {
			return d
		}
	}
	return ""
}

// Node is one real node.
type Node struct {
	nodefile.Node
	// Index numbers the real nodes of an instance from 0; see instance.NodeAddress.
	Index int

	plane      *controlplane.Plane
	pause      string
	serving    pki.Pair
	kubeconfig string
}

// New describes a node and writes nothing. pause is the path of the compiled pause program.
func New(plane *controlplane.Plane, index int, node nodefile.Node, pause string) *Node {
	return &Node{Node: node, Index: index, plane: plane, pause: pause}
}

func (n *Node) in() *instance.Instance { return n.plane.Instance }

// Address is the node's InternalIP.
func (n *Node) Address() string { return n.in().NodeAddress(n.Index) }

func (n *Node) dir(elem ...string) string {
	return filepath.Join(append([]string{n.in().NodesDir(), n.Name}, elem...)...)
}

func (n *Node) run(elem ...string) string {
	return filepath.Join(append([]string{n.in().RunDir(), n.Name}, elem...)...)
}

func (n *Node) socket() string { return n.run("containerd.sock") }

// network is the name of the pods' network, unique on the machine.
func network(in *instance.Instance, index int) string {
	return fmt.Sprintf("devplane-%s-%d", in.ID, index)
}

// mark is in the environment of containerd and of the shims that it starts.
func (n *Node) mark() string { return "DEVPLANE_NODE=" + n.in().ID + "/" + n.Name }

// Prepare makes the bridge and the cgroup and writes configurations and images.
func (n *Node) Prepare() error {
	for _, d := range []string{n.dir("cni"), n.dir("pods"), n.dir("kubelet"), n.dir("certs.d", unpullable), n.run()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	var err error
	if n.kubeconfig, err = n.plane.Identity(n.Name, "system:node:"+n.Name, "system:nodes"); err != nil {
		return err
	}
	n.serving, err = n.plane.CA.Issue(n.Name+"-serving", pki.Subject{
		Name: "system:node:" + n.Name, Groups: []string{"system:nodes"}, Hosts: []string{n.Address(), n.Name}})
	if err != nil {
		return err
	}
	if err := addBridge(n.in().Bridge(n.Index), n.Address()+"/26"); err != nil {
		return err
	}
	if err := makeCgroups(n.cgroup()); err != nil {
		return err
	}
	kubelet, err := json.MarshalIndent(n.kubeletConfig(), "", "  ")
	if err != nil {
		return err
	}
	conflist, err := json.MarshalIndent(n.cniConfig(), "", "  ")
	if err != nil {
		return err
	}
	for path, data := range map[string]string{
		n.dir("containerd.toml"):                   n.containerdConfig(),
		n.dir("kubelet.json"):                      string(kubelet),
		n.dir("cni", "10-devplane.conflist"):       string(conflist),
		n.dir("certs.d", unpullable, "hosts.toml"): "server = \"http://127.0.0.1:1\"\n",
	} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			return err
		}
	}
	return n.writeImages()
}

// unpullable is the registry that refuses every pull. The name is under a top-level domain that
// never resolves (RFC 6761); a hosts.toml makes it answer at once, without asking a resolver.
const unpullable = "devplane.invalid"

// Containerd is the spec of the node's containerd.
func (n *Node) Containerd() supervise.Spec {
	s := n.plane.Part("containerd-" + n.Name)
	s.Proc.Path, s.Proc.Args = "containerd", []string{"--config", n.dir("containerd.toml")}
	if path, err := exec.LookPath("containerd"); err == nil {
		s.Proc.Path = path
	}
	s.Proc.Env = append(s.Proc.Env, n.mark())
	return s
}

// Kubelet is the spec of the node's kubelet.
func (n *Node) Kubelet() supervise.Spec {
	s := n.plane.Part("kubelet",
		"--config="+n.dir("kubelet.json"), "--kubeconfig="+n.kubeconfig,
		"--root-dir="+n.dir("kubelet"), "--cert-dir="+n.dir("pki"),
		"--hostname-override="+n.Name, "--node-ip="+n.Address())
	s.Name = "kubelet-" + n.Name
	s.Log = n.in().Path("logs", s.Name+".log")
	s.Grace = 5 * time.Second
	return s
}
