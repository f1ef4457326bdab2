package observertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Fleet is the workloads of a cluster with many pods: a third of its Deployments ask nothing of their node, the
// others ask for what people ask for, in about as many ways as there are workloads. The same size gives the same
// fleet.
type Fleet struct {
	Namespaces   []string
	Deployments  []appsv1.Deployment
	StatefulSets []appsv1.StatefulSet
	DaemonSets   []appsv1.DaemonSet
	Bare         []corev1.Pod
}

// Sizes of workloads. Of pods, four fifths are Deployments', a tenth DaemonSets', a twentieth each StatefulSets'
// and nobody's.
const (
	fleetNamespaces  = 20
	replicas         = 10
	fleetDaemonSets  = 5
	statefulReplicas = 5
)

// NewFleet makes a fleet of that many pods on that many nodes.
func NewFleet(pods, nodes int) *Fleet {
	f := &Fleet{}
	for i := range fleetNamespaces {
		f.Namespaces = append(f.Namespaces, fmt.Sprintf("team-%02d", i))
	}
	daemons := min(fleetDaemonSets, pods/10/nodes)
	rest := pods - daemons*nodes
	stateful, bare := rest/20/statefulReplicas, rest/20
	deployments := (rest - stateful*statefulReplicas - bare) / replicas
	bare = rest - stateful*statefulReplicas - deployments*replicas // the remainder too
	meta := func(kind string, i int) metav1.ObjectMeta {
		name := fmt.Sprintf("%s-%d", kind, i)
		return metav1.ObjectMeta{Namespace: f.Namespaces[i%fleetNamespaces], Name: name, Labels: map[string]string{"app": name}}
	}
	template := func(m metav1.ObjectMeta, i int) (corev1.PodTemplateSpec, *metav1.LabelSelector) {
		labels := map[string]string{"app": m.Name, "tier": []string{"web", "api", "worker"}[i%3]}
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"prometheus.io/scrape": "true", "checksum/config": fmt.Sprintf("%064d", i)}},
			Spec: spec(m.Name, i)}, &metav1.LabelSelector{MatchLabels: map[string]string{"app": m.Name}}
	}
	for i := range deployments {
		d := appsv1.Deployment{ObjectMeta: meta("app", i)}
		d.Spec.Template, d.Spec.Selector = template(d.ObjectMeta, i)
		place(&d.Spec.Template.Spec, d.Name, i)
		n := int32(replicas)
		d.Spec.Replicas = &n
		f.Deployments = append(f.Deployments, d)
	}
	for i := range stateful {
		s := appsv1.StatefulSet{ObjectMeta: meta("db", i)}
		s.Spec.Template, s.Spec.Selector = template(s.ObjectMeta, i)
		s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		s.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{apart(s.Name)}}}
		n := int32(statefulReplicas)
		s.Spec.Replicas = &n
		f.StatefulSets = append(f.StatefulSets, s)
	}
	for i := range daemons {
		d := appsv1.DaemonSet{ObjectMeta: meta("agent", i)}
		d.Spec.Template, d.Spec.Selector = template(d.ObjectMeta, i)
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
		f.DaemonSets = append(f.DaemonSets, d)
	}
	for i := range bare {
		m := meta("task", i)
		p := corev1.Pod{ObjectMeta: m}
		p.Spec = spec(m.Name, i)
		p.Spec.Containers = p.Spec.Containers[:1]
		f.Bare = append(f.Bare, p)
	}
	return f
}

// spec is a pod as people write them: most of it is of no interest to an observer.
func spec(name string, i int) corev1.PodSpec {
	quantity := resource.MustParse
	probe := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}, PeriodSeconds: 10}
	c := corev1.Container{
		Name: "main", Image: fmt.Sprintf("registry.acme.example/%s:1.%d.0", name, i%7), Args: []string{"--config=/etc/app/config.yaml", "--verbose"},
		Ports:          []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		ReadinessProbe: probe, LivenessProbe: probe,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": quantity(fmt.Sprintf("%dm", 50+50*(i%4))), "memory": quantity(fmt.Sprintf("%dMi", 64<<(i%3)))},
			Limits:   corev1.ResourceList{"memory": quantity("512Mi")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/app"}, {Name: "cache", MountPath: "/var/cache/app"}},
	}
	for e := range 12 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", e), Value: fmt.Sprintf("value %d of %s", e, name)})
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}})
	s := corev1.PodSpec{Containers: []corev1.Container{c}, Volumes: []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}}
	if i%3 == 2 { // a worker
		main := &s.Containers[0]
		main.Ports, main.ReadinessProbe, main.LivenessProbe, main.Resources.Limits = nil, nil, nil, nil
	}
	if i%4 == 0 {
		always := corev1.ContainerRestartPolicyAlways
		s.InitContainers = []corev1.Container{{Name: "mesh", Image: "registry.acme.example/mesh/proxy:3.1", RestartPolicy: &always,
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("20m"), "memory": quantity("32Mi")}}}}
	}
	return s
}

func apart(app string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

// Zones of a fleet's nodes.
var Zones = []string{"eu-west-1a", "eu-west-1b", "eu-west-1c"}

// place asks something of the node. Every third workload asks nothing.
func place(s *corev1.PodSpec, name string, i int) {
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	switch i % 9 {
	case 0, 3, 6:
	case 1:
		s.NodeSelector = map[string]string{corev1.LabelArchStable: []string{"amd64", "arm64"}[i%2]}
	case 2:
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{apart(name)}}}
	case 4:
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{in(corev1.LabelTopologyZone, Zones[i%3], Zones[(i+1)%3])}}}}}}
		s.Tolerations = []corev1.Toleration{{Key: "workload-type", Operator: corev1.TolerationOpEqual, Value: "batch", Effect: corev1.TaintEffectNoSchedule}}
	case 5:
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1 + int32(i%2), WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}}
	case 7:
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + i%100), PodAffinityTerm: apart(name)}}}}
	case 8:
		seconds := int64(30 + i%60)
		s.TerminationGracePeriodSeconds = &seconds
		s.NodeSelector = map[string]string{"node-group": "general"}
		s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname, MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}}}
	}
}

// Nodes is a node file for devplane, with nodes for a fleet: they only say that pods run.
func Nodes(n int) string {
	text := "version: 1\npools:\n"
	kinds := len(Zones) * 2
	for i := range kinds {
		text += fmt.Sprintf("  - {name: n%d, kind: scale, count: %d, run_for: 24h, labels: {kubernetes.io/arch: %s, node-group: general, topology.kubernetes.io/region: eu-west-1, topology.kubernetes.io/zone: %s, node.kubernetes.io/instance-type: m7i.%dxlarge}, capacity: {cpu: \"64\", memory: 256Gi, pods: \"250\"}}\n",
			i, (n+i)/kinds, []string{"amd64", "arm64"}[i%2], Zones[i/2], 4<<(i%3))
	}
	return text
}

// Pods are those that the fleet's controllers would make, all of them running, on nodes in turn; and the owners'
// metadata.
func (f *Fleet) Pods(nodes int) (pods []*corev1.Pod, owners []*metav1.PartialObjectMetadata) {
	yes := true
	uid := 0
	next := func() types.UID { uid++; return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", uid)) }
	own := func(kind string, m metav1.ObjectMeta, by *metav1.OwnerReference) metav1.OwnerReference {
		o := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: kind}, ObjectMeta: *m.DeepCopy()}
		if o.UID = next(); by != nil {
			o.OwnerReferences = []metav1.OwnerReference{*by}
		}
		owners = append(owners, o)
		return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: m.Name, UID: o.UID, Controller: &yes}
	}
	add := func(t corev1.PodTemplateSpec, namespace, name string, by *metav1.OwnerReference) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: *t.Spec.DeepCopy()}
		p.Namespace, p.Name, p.UID, p.CreationTimestamp = namespace, name, next(), metav1.Unix(1_700_000_000+int64(uid), 0)
		if by != nil {
			p.OwnerReferences = []metav1.OwnerReference{*by}
		}
		p.Spec.NodeName = fmt.Sprintf("n%d-%d", uid%6, uid%nodes/6)
		p.Spec.SchedulerName = corev1.DefaultSchedulerName
		p.Status.Phase, p.Status.QOSClass = corev1.PodRunning, corev1.PodQOSBurstable
		for _, c := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, ImageID: c.Image + "@sha256:" + digestOf(c.Image)})
		}
		for _, c := range p.Spec.InitContainers {
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{Name: c.Name, ImageID: c.Image + "@sha256:" + digestOf(c.Image)})
		}
		pods = append(pods, p)
		return p
	}
	for i := range f.Deployments {
		d := &f.Deployments[i]
		deployment := own("Deployment", d.ObjectMeta, nil)
		m := d.ObjectMeta
		m.Name += "-5d4f8"
		set := own("ReplicaSet", m, &deployment)
		for n := range *d.Spec.Replicas {
			add(d.Spec.Template, d.Namespace, fmt.Sprintf("%s-%05d", m.Name, n), &set)
		}
	}
	for i := range f.StatefulSets {
		s := &f.StatefulSets[i]
		set := own("StatefulSet", s.ObjectMeta, nil)
		for n := range *s.Spec.Replicas {
			add(s.Spec.Template, s.Namespace, fmt.Sprintf("%s-%d", s.Name, n), &set)
		}
	}
	for i := range f.DaemonSets {
		d := &f.DaemonSets[i]
		set := own("DaemonSet", d.ObjectMeta, nil)
		for n := range nodes {
			p := add(d.Spec.Template, d.Namespace, fmt.Sprintf("%s-%05d", d.Name, n), &set)
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{p.Spec.NodeName}}}}}}}}
		}
	}
	for i := range f.Bare {
		b := &f.Bare[i]
		add(corev1.PodTemplateSpec{ObjectMeta: b.ObjectMeta, Spec: b.Spec}, b.Namespace, b.Name, nil)
	}
	return pods, owners
}

// digestOf is as random as a digest is, and the same for the same image.
func digestOf(image string) string {
	sum := sha256.Sum256([]byte(image))
	return hex.EncodeToString(sum[:])
}
