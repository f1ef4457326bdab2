package process

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
	"k8s.io/kubernetes/pkg/securitycontext"
	"k8s.io/utils/ptr"
)

// identity is what a container may do.
type identity struct {
	uid, gid     int64
	groups       []int64 // supplementary, without duplicates
	capabilities []int   // the bounding set
	noNewPrivs   bool
	readOnlyRoot bool
}

func effectiveSecurity(pod *corev1.Pod, c *corev1.Container) *corev1.SecurityContext {
	return securitycontext.DetermineEffectiveSecurityContext(pod, c)
}

// identify says who a container runs as. An image says nothing of it, so it is root unless the pod
// says otherwise; an error is that of a pod which must not be root, in the kubelet's words.
func identify(pod *corev1.Pod, c *corev1.Container) (identity, error) {
	sc := effectiveSecurity(pod, c)
	id := identity{
		uid: ptr.Deref(sc.RunAsUser, 0), gid: ptr.Deref(sc.RunAsGroup, 0),
		noNewPrivs:   !ptr.Deref(sc.AllowPrivilegeEscalation, true),
		readOnlyRoot: ptr.Deref(sc.ReadOnlyRootFilesystem, false),
		capabilities: boundingSet(sc.Capabilities),
	}
	if ptr.Deref(sc.RunAsNonRoot, false) && id.uid == 0 {
		if sc.RunAsUser != nil {
			return id, fmt.Errorf("container's runAsUser breaks non-root policy (pod: %q, container: %s)", format.Pod(pod), c.Name)
		}
		return id, fmt.Errorf("container has runAsNonRoot and image will run as root (pod: %q, container: %s)", format.Pod(pod), c.Name)
	}
	if psc := pod.Spec.SecurityContext; psc != nil {
		if psc.FSGroup != nil {
			id.groups = append(id.groups, *psc.FSGroup)
		}
		id.groups = append(id.groups, psc.SupplementalGroups...)
	}
	slices.Sort(id.groups)
	id.groups = slices.Compact(id.groups)
	return id, nil
}

// capabilityNames are the capabilities of Linux in the order of their numbers.
var capabilityNames = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID
	SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER
	SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME
	SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM
	BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

// defaultCapabilities are those that containerd gives a container.
var defaultCapabilities = strings.Fields(`CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID
	SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE`)

// capability is the number of a capability, by its name with or without CAP_.
func capability(name corev1.Capability) (int, bool) {
	i := slices.Index(capabilityNames, strings.TrimPrefix(strings.ToUpper(string(name)), "CAP_"))
	return i, i >= 0
}

func isAll(name corev1.Capability) bool { return strings.EqualFold(string(name), "ALL") }

// boundingSet applies a pod's changes to the default set. ALL comes first, then single names.
func boundingSet(change *corev1.Capabilities) []int {
	allowed := map[int]bool{}
	for _, name := range defaultCapabilities {
		n, _ := capability(corev1.Capability(name))
		allowed[n] = true
	}
	if change != nil {
		for n := range capabilityNames {
			if slices.ContainsFunc(change.Add, isAll) {
				allowed[n] = true
			}
			if slices.ContainsFunc(change.Drop, isAll) {
				delete(allowed, n)
			}
		}
		for _, name := range change.Add {
			if n, ok := capability(name); ok {
				allowed[n] = true
			}
		}
		for _, name := range change.Drop {
			if n, ok := capability(name); ok {
				delete(allowed, n)
			}
		}
	}
	set := make([]int, 0, len(allowed))
	for n := range capabilityNames {
		if allowed[n] {
			set = append(set, n)
		}
	}
	return set
}
