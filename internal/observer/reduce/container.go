package reduce

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Container is one of a pod's.
type Container struct {
	Template *Block[Template]
	Digest   Name // of its image; empty until it has started
}

// Template is what a container was asked to be.
type Template struct {
	Name      string
	Image     string
	Init      string
	Resources *observer.Resources
	Ports     []observer.Port
}

// containers gives main and init containers. Ephemeral ones are how people debug, and no part of what was
// asked for.
func containers(p *corev1.Pod, bounds Bounds) []Container {
	all := make([]Container, 0, len(p.Spec.InitContainers)+len(p.Spec.Containers))
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		init := observer.InitOnce
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			init = observer.InitSidecar
		}
		all = append(all, Container{template(c, init, bounds), digest(p.Status.InitContainerStatuses, c.Name)})
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		all = append(all, Container{template(c, "", bounds), digest(p.Status.ContainerStatuses, c.Name)})
	}
	return all
}

func template(c *corev1.Container, init string, bounds Bounds) *Block[Template] {
	t := &trimmer{Bounds: bounds}
	made := Template{Name: c.Name, Init: init}
	t.field = "image"
	made.Image = t.word(c.Image, MostImage)
	t.field = "resources"
	made.Resources = t.resources(&c.Resources)
	t.field = "ports"
	for i, p := range list(t, c.Ports) {
		if !t.fits(p.Name, t.text(), "name", i) || !t.fits(p.HostIP, t.text(), "host_ip", i) || !t.fits(string(p.Protocol), t.text(), "protocol", i) {
			continue
		}
		port := observer.Port{Name: p.Name, Port: p.ContainerPort, Protocol: string(p.Protocol), HostPort: p.HostPort, HostIP: p.HostIP}
		if port.Protocol == "" {
			port.Protocol = string(corev1.ProtocolTCP)
		}
		made.Ports = append(made.Ports, port)
	}
	made.Ports = sorted(made.Ports)
	return block(made, t.drops)
}

// A digest as the OCI image specification has it, in an image id such as registry.example/nginx@sha256:...
// or, for an image that came from no registry, sha256:... alone.
var digestPattern = regexp.MustCompile(`^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,128}$`)

func digest(statuses []corev1.ContainerStatus, container string) Name {
	for i := range statuses {
		if statuses[i].Name != container {
			continue
		}
		id := statuses[i].ImageID
		if at := strings.LastIndexAny(id, "@/"); at >= 0 {
			id = id[at+1:]
		}
		if digestPattern.MatchString(id) {
			return name(id)
		}
	}
	return none
}
