package process

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

// platform is what the machine allows.
type platform struct {
	// namespaces: containers have their own mounts and PIDs and may be of any user.
	namespaces bool
	// uid is the user that runs this process.
	uid int64
}

// refusals collects findings of fields that can't be honoured.
type refusals []string

func (r *refusals) add(when bool, format string, args ...any) {
	if when {
		*r = append(*r, fmt.Sprintf(format, args...))
	}
}

// refuse names every field of the pod that this runtime can't honour.
func refuse(pod *corev1.Pod, on platform) []string {
	var r refusals
	spec := &pod.Spec
	r.add(len(spec.EphemeralContainers) > 0, "spec.ephemeralContainers: containers can't be added to a running pod")
	r.add(spec.HostPID, "spec.hostPID: containers have PID namespaces of their own")
	r.add(ptr.Deref(spec.ShareProcessNamespace, false), "spec.shareProcessNamespace: each container has its own PID namespace")
	r.add(!ptr.Deref(spec.HostUsers, true), "spec.hostUsers: user namespaces are not supported")
	r.add(len(spec.HostAliases) > 0, "spec.hostAliases: /etc/hosts is the machine's")
	r.add(spec.DNSConfig != nil, "spec.dnsConfig: /etc/resolv.conf is the machine's")
	r.add(spec.DNSPolicy == corev1.DNSNone, "spec.dnsPolicy None: /etc/resolv.conf is the machine's")
	r.add(spec.Subdomain != "", "spec.subdomain: pods have no DNS names")
	r.add(ptr.Deref(spec.SetHostnameAsFQDN, false), "spec.setHostnameAsFQDN: pods have no DNS names")
	r.add(ptr.Deref(spec.RuntimeClassName, "") != "", "spec.runtimeClassName: there is one runtime")
	r.add(len(spec.ResourceClaims) > 0, "spec.resourceClaims: devices are not supported")
	r.add(podutil.AllContainersCouldRestart(spec), "restartPolicyRules with action RestartAllContainers are not supported")
	r.podSecurity(spec.SecurityContext, on)
	for i := range spec.Volumes {
		r.volume(fmt.Sprintf("spec.volumes[%d]", i), &spec.Volumes[i], on)
	}
	for i := range spec.InitContainers {
		r.container(fmt.Sprintf("spec.initContainers[%d]", i), pod, &spec.InitContainers[i], on)
	}
	for i := range spec.Containers {
		r.container(fmt.Sprintf("spec.containers[%d]", i), pod, &spec.Containers[i], on)
	}
	return r
}

func (r *refusals) podSecurity(sc *corev1.PodSecurityContext, on platform) {
	if sc == nil {
		return
	}
	const at = "spec.securityContext"
	r.add(sc.SELinuxOptions != nil, at+".seLinuxOptions: not supported")
	r.add(sc.WindowsOptions != nil, at+".windowsOptions: not supported")
	r.add(len(sc.Sysctls) > 0, at+".sysctls: not supported")
	r.add(!on.namespaces && sc.FSGroup != nil, at+".fsGroup: needs Linux and root")
	r.add(!on.namespaces && len(sc.SupplementalGroups) > 0, at+".supplementalGroups: needs Linux and root")
}

func (r *refusals) container(at string, pod *corev1.Pod, c *corev1.Container, on platform) {
	r.add(len(c.Command) == 0 && act(c.Image) == actRun, "%s.command: missing, and an image is a name without content", at)
	r.add(c.TTY, "%s.tty: containers have no terminal", at)
	r.add(c.Stdin, "%s.stdin: containers have no input", at)
	r.add(len(c.VolumeDevices) > 0, "%s.volumeDevices: block volumes are not supported", at)
	r.add(len(c.Resources.Claims) > 0, "%s.resources.claims: devices are not supported", at)
	r.add(c.Lifecycle != nil && c.Lifecycle.StopSignal != nil, "%s.lifecycle.stopSignal: not supported", at)
	for i, e := range c.Env {
		r.add(e.ValueFrom != nil && e.ValueFrom.FileKeyRef != nil, "%s.env[%d].valueFrom.fileKeyRef: not supported", at, i)
	}
	for i, m := range c.VolumeMounts {
		r.mount(fmt.Sprintf("%s.volumeMounts[%d]", at, i), pod, c, &m, on)
	}
	r.containerSecurity(at+".securityContext", pod, c, on)
}

func (r *refusals) mount(at string, pod *corev1.Pod, c *corev1.Container, m *corev1.VolumeMount, on platform) {
	r.add(ptr.Deref(m.MountPropagation, corev1.MountPropagationNone) != corev1.MountPropagationNone,
		"%s.mountPropagation: only None is supported", at)
	r.add(ptr.Deref(m.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled) == corev1.RecursiveReadOnlyEnabled,
		"%s.recursiveReadOnly: not supported", at)
	if on.namespaces {
		return
	}
	r.add(m.ReadOnly && !isToken(m), "%s.readOnly: needs Linux and root", at)
	named := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return below(m.MountPath, e.Value) })
	r.add(!named && !isToken(m), "%s: no environment variable has the value %s, and without Linux and root there is no other way to it", at, m.MountPath)
}

func (r *refusals) containerSecurity(at string, pod *corev1.Pod, c *corev1.Container, on platform) {
	if uid := effectiveSecurity(pod, c).RunAsUser; uid != nil {
		r.add(!on.namespaces && *uid != on.uid, "%s.runAsUser: %d is not the user %d that runs this node, and it is not root on Linux", at, *uid, on.uid)
	}
	sc := c.SecurityContext
	if sc == nil {
		return
	}
	r.add(ptr.Deref(sc.Privileged, false), "%s.privileged: the container would be root on this machine", at)
	r.add(sc.SELinuxOptions != nil, "%s.seLinuxOptions: not supported", at)
	r.add(sc.WindowsOptions != nil, "%s.windowsOptions: not supported", at)
	r.add(ptr.Deref(sc.ProcMount, corev1.DefaultProcMount) != corev1.DefaultProcMount, "%s.procMount: not supported", at)
	if sc.Capabilities != nil {
		for _, name := range slices.Concat(sc.Capabilities.Add, sc.Capabilities.Drop) {
			_, known := capability(name)
			r.add(!known && !isAll(name), "%s.capabilities: %s is unknown", at, name)
		}
	}
	if on.namespaces {
		return
	}
	r.add(sc.RunAsGroup != nil, "%s.runAsGroup: needs Linux and root", at)
	r.add(ptr.Deref(sc.ReadOnlyRootFilesystem, false), "%s.readOnlyRootFilesystem: needs Linux and root", at)
	r.add(sc.Capabilities != nil && len(sc.Capabilities.Add) > 0, "%s.capabilities.add: needs Linux and root", at)
}

func (r *refusals) volume(at string, v *corev1.Volume, on platform) {
	switch {
	case v.EmptyDir != nil:
		r.add(strings.HasPrefix(string(v.EmptyDir.Medium), "HugePages"), "%s.emptyDir.medium: huge pages are not supported", at)
	case v.Projected != nil:
		for i, s := range v.Projected.Sources {
			r.add(s.ClusterTrustBundle != nil, "%s.projected.sources[%d].clusterTrustBundle: not supported", at, i)
			r.add(s.PodCertificate != nil, "%s.projected.sources[%d].podCertificate: not supported", at, i)
		}
	case v.HostPath != nil, v.PersistentVolumeClaim != nil, v.Secret != nil, v.ConfigMap != nil, v.DownwardAPI != nil:
	default:
		r.add(true, "%s: volume %q is of a kind that is not supported", at, v.Name)
	}
}

// isToken says whether a mount is that of the token which admission gives to every pod.
func isToken(m *corev1.VolumeMount) bool {
	return strings.HasPrefix(m.Name, "kube-api-access-") && m.MountPath == "/var/run/secrets/kubernetes.io/serviceaccount"
}

// below says whether path is dir or lies below it.
func below(dir, path string) bool {
	dir = strings.TrimRight(dir, "/")
	return path == dir || strings.HasPrefix(path, dir+"/")
}
