// Package instance is what one devplane owns on its machine: a folder, an id, a block of ports
// and a block of addresses.
//
// Promises:
//
//   - One folder has at most one living devplane (a file lock that dies with its holder).
//   - Two devplanes never share a port or an address, whoever runs them: each holds one numbered
//     slot of the machine, and all ports and addresses are computed from the slot's number. The
//     slot is held by listening on its last port, which ends with the process.
//   - Ports lie below the range from which the kernel takes ports for outgoing connections, so
//     that a part that was killed finds its port free when it comes back.
//   - Folders are removed only if devplane made them: the folder carries a marker.
package instance

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

const (
	marker    = "devplane.json"
	slots     = 200
	firstPort = 20000 // up to 20000+200*20 = 24000; Linux' ephemeral ports begin at 32768
	slotPorts = 20

	// EnvKey marks every process of a devplane, with its id as value.
	EnvKey = "DEVPLANE_INSTANCE"
)

// Port offsets within a slot.
const (
	portAPIServer = iota
	portEtcd
	portEtcdPeer
)

// Instance is one devplane. Its zero value is not usable; see Create and Load.
type Instance struct {
	// ID is unique on the machine for as long as the instance lives; six hex digits.
	ID string `json:"id"`
	// Slot numbers the instance's ports and addresses; 0 <= Slot < 200.
	Slot int `json:"slot"`
	// Guard and Supervisor are process ids.
	Guard      int `json:"guard"`
	Supervisor int `json:"supervisor"`
	// Version is Kubernetes' version, with the v.
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	// RealNodes are the names of the real nodes, in order: a sweep needs them for what the
	// kernel holds under their names.
	RealNodes []string `json:"real_nodes,omitempty"`

	Dir string `json:"-"` // absolute

	lock *os.File     // open for as long as the folder is ours
	slot net.Listener // likewise for the slot
}

// Create makes dir ready for a new devplane and takes its locks. What an earlier devplane left
// in the folder is removed; a folder with anything else in it is refused.
// The caller must have swept what a dead instance may have left running (see Load).
func Create(dir, version string) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := claim(dir); err != nil {
		return nil, err
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("a devplane is running in %s; stop it with: devplane down --dir %s", dir, dir)
	} else if err != nil {
		return nil, err
	}
	in := &Instance{Version: version, Started: time.Now().UTC(), Dir: dir, lock: lock}
	id := make([]byte, 3)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	in.ID = hex.EncodeToString(id)
	if err := in.clear(); err != nil {
		return nil, err
	}
	if err := in.takeSlot(); err != nil {
		return nil, err
	}
	if err := ownFolder(runRoot(), 0o022); err != nil {
		return nil, err
	}
	for _, d := range []string{in.Path("logs"), in.Path("pki"), in.RunDir(), in.NodesDir()} {
		if err := makeFolder(d); err != nil {
			return nil, err
		}
	}
	return in, in.Save()
}

// claim makes sure that dir exists and is empty or was made by devplane.
func claim(dir string) error {
	if err := ownFolder(dir, 0o002); err != nil {
		return err
	}
	if _, err := Load(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			return fmt.Errorf("%s is not empty and was not made by devplane (it holds %q); name an empty folder with --dir", dir, e.Name())
		}
	}
	return nil
}

// Load reads the instance that a folder last held, running or not. The error is fs.ErrNotExist
// if the folder never held one.
func Load(dir string) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, marker))
	if err != nil {
		return nil, err
	}
	in := &Instance{Dir: dir}
	if err := json.Unmarshal(data, in); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, marker), err)
	}
	// What is removed follows from these.
	if !validID.MatchString(in.ID) || in.Slot < 0 || in.Slot >= slots || len(in.RealNodes) > maxRealNodes {
		return nil, fmt.Errorf("%s was not written by devplane; name another folder with --dir", filepath.Join(dir, marker))
	}
	return in, nil
}

var validID = regexp.MustCompile("^[0-9a-f]{6}$")

// Seize takes the folder's lock, so that nobody starts a devplane in it, and returns what releases
// it. It fails if one runs.
func (in *Instance) Seize() (release func(), err error) {
	f, err := lockFile(in.Path("lock"))
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// Running reports whether some process holds the folder's lock.
func (in *Instance) Running() bool { return isLocked(in.Path("lock")) }

// Save writes the marker file.
func (in *Instance) Save() error {
	data, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return err
	}
	// Whole or not at all: without it nobody could clean up.
	temp := in.Path("." + marker)
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, in.Path(marker))
}

// keep is what outlives a devplane in its folder: what people read after the fact.
var keep = map[string]bool{"lock": true, marker: true, "logs": true}

// Remove deletes the instance's data. Logs stay. Nothing of the instance may run any more.
func (in *Instance) Remove() error {
	err := errors.Join(in.clear(), os.RemoveAll(in.RunDir()), os.RemoveAll(in.NodesDir()))
	// What the last one leaves empty goes; with another instance's folder in it, it stays.
	if os.Geteuid() == 0 {
		_ = os.Remove(filepath.Dir(in.NodesDir()))
	} else {
		_ = os.Remove(runRoot())
	}
	return err
}

// makeFolder makes a folder below one that another instance may be removing as its last.
func makeFolder(dir string) (err error) {
	for range 5 {
		if err = os.MkdirAll(dir, 0o700); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func (in *Instance) clear() error {
	entries, err := os.ReadDir(in.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var all error
	for _, e := range entries {
		if !keep[e.Name()] {
			all = errors.Join(all, os.RemoveAll(in.Path(e.Name())))
		}
	}
	return all
}

// Path is a path below the instance's folder.
func (in *Instance) Path(elem ...string) string {
	return filepath.Join(append([]string{in.Dir}, elem...)...)
}

// RunDir holds sockets and containerd's state. It has a short path of its own because a Unix
// socket's path is limited to 107 bytes, and the instance's folder may be anywhere.
func (in *Instance) RunDir() string { return filepath.Join(runRoot(), "devplane-"+in.ID) }

// NodesDir holds what nodes keep. For root it is not below the instance's folder, which may be
// anywhere: kubelets have sockets too, and the layers of an overlay file system can't lie below a
// path with a comma or a colon.
func (in *Instance) NodesDir() string {
	if os.Geteuid() == 0 {
		return filepath.Join("/var/lib/devplane", in.ID)
	}
	return in.Path("nodes")
}

// Socket is where the supervisor takes commands.
func (in *Instance) Socket() string { return filepath.Join(in.RunDir(), "control.sock") }

// Env is the mark that every process of the instance carries.
func (in *Instance) Env() string { return EnvKey + "=" + in.ID }

// Kubeconfig is the administrator's.
func (in *Instance) Kubeconfig() string { return in.Path("kubeconfig") }

func (in *Instance) port(offset int) int { return firstPort + in.Slot*slotPorts + offset }

// APIServer is the API server's port on 127.0.0.1.
func (in *Instance) APIServer() int { return in.port(portAPIServer) }

// Etcd is the port for etcd's clients.
func (in *Instance) Etcd() int { return in.port(portEtcd) }

// EtcdPeer is the port for etcd's peers, of which there are none.
func (in *Instance) EtcdPeer() int { return in.port(portEtcdPeer) }

// Addresses of real nodes come from 198.18.0.0/15, which RFC 2544 reserves for tests inside a
// device: no real network has it. A slot has a /24 of it, a real node a /26 of that.
const maxRealNodes = 4

// NodeAddress is the address of the i-th real node and the gateway of its pods.
func (in *Instance) NodeAddress(i int) string {
	return fmt.Sprintf("198.18.%d.%d", in.Slot, i%maxRealNodes*64+1)
}

// PodSubnet is where the pods of the i-th real node have their addresses.
func (in *Instance) PodSubnet(i int) string {
	return fmt.Sprintf("198.18.%d.%d/26", in.Slot, i%maxRealNodes*64)
}

// Bridge is the name of the i-th real node's bridge device.
func (in *Instance) Bridge(i int) string { return fmt.Sprintf("dp%sn%d", in.ID, i) }

// MaxRealNodes is how many real nodes one devplane can have.
func MaxRealNodes() int { return maxRealNodes }

func (in *Instance) takeSlot() error {
	for slot := range slots {
		in.Slot = slot
		hold, err := listen(in.port(slotPorts - 1))
		if err != nil {
			continue
		}
		if in.portsFree() {
			in.slot = hold
			return nil
		}
		hold.Close()
	}
	return fmt.Errorf("all %d blocks of ports from %d on are taken", slots, firstPort)
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

func (in *Instance) portsFree() bool {
	for i := range slotPorts - 1 {
		l, err := listen(in.port(i))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}
