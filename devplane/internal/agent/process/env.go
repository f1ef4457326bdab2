package process

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	resourcehelper "k8s.io/component-helpers/resource"
	podresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"k8s.io/utils/ptr"
)

// facts is what a container may ask about its node through the downward API.
type facts struct {
	address     string
	allocatable corev1.ResourceList
	// server is host:port of the API server.
	server string
}

// environment resolves the variables of one container.
type environment struct {
	cluster Cluster
	facts   facts
	pod     *corev1.Pod
	c       *corev1.Container
	vars    map[string]string

	secrets    map[string]*corev1.Secret
	configMaps map[string]*corev1.ConfigMap
}

// resolveEnv is a container's whole environment. Variables of envFrom come first, those of env
// override them and may refer to what came before. An error is a configuration error in the
// kubelet's words; it may go away.
func resolveEnv(ctx context.Context, cluster Cluster, f facts, pod *corev1.Pod, c *corev1.Container) (map[string]string, error) {
	e := environment{
		cluster: cluster, facts: f, pod: pod, c: c, vars: map[string]string{},
		secrets: map[string]*corev1.Secret{}, configMaps: map[string]*corev1.ConfigMap{},
	}
	for i := range c.EnvFrom {
		if err := e.addAll(ctx, &c.EnvFrom[i]); err != nil {
			return nil, err
		}
	}
	services := serviceEnv(f.server)
	mapping := expansion.MappingFuncFor(e.vars, services)
	for i := range c.Env {
		v := &c.Env[i]
		value, set, err := v.Value, true, error(nil)
		if v.Value != "" {
			value = expansion.Expand(v.Value, mapping)
		} else if v.ValueFrom != nil {
			value, set, err = e.source(ctx, v.ValueFrom)
		}
		if err != nil {
			return nil, err
		}
		if set {
			e.vars[v.Name] = value
		}
	}
	for name, value := range services {
		if _, ok := e.vars[name]; !ok {
			e.vars[name] = value
		}
	}
	return e.vars, nil
}

// addAll adds the variables of a Secret or ConfigMap.
func (e *environment) addAll(ctx context.Context, from *corev1.EnvFromSource) error {
	switch {
	case from.ConfigMapRef != nil:
		m, err := e.configMap(ctx, from.ConfigMapRef.Name)
		if err != nil {
			return unlessOptional(err, from.ConfigMapRef.Optional)
		}
		for k, v := range m.Data {
			e.vars[from.Prefix+k] = v
		}
	case from.SecretRef != nil:
		s, err := e.secret(ctx, from.SecretRef.Name)
		if err != nil {
			return unlessOptional(err, from.SecretRef.Optional)
		}
		for k, v := range s.Data {
			e.vars[from.Prefix+k] = string(v)
		}
	}
	return nil
}

// source is the value of a variable that is taken from elsewhere. It is not set if an optional
// object or key is missing.
func (e *environment) source(ctx context.Context, from *corev1.EnvVarSource) (value string, set bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = podField(e.pod, e.facts, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = e.resourceField(from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		m, err := e.configMap(ctx, ref.Name)
		if err != nil {
			return "", false, unlessOptional(err, ref.Optional)
		}
		value, ok := m.Data[ref.Key]
		if !ok && !ptr.Deref(ref.Optional, false) {
			return "", false, fmt.Errorf("couldn't find key %v in ConfigMap %v/%v", ref.Key, e.pod.Namespace, ref.Name)
		}
		return value, ok, nil
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		s, err := e.secret(ctx, ref.Name)
		if err != nil {
			return "", false, unlessOptional(err, ref.Optional)
		}
		data, ok := s.Data[ref.Key]
		if !ok && !ptr.Deref(ref.Optional, false) {
			return "", false, fmt.Errorf("couldn't find key %v in Secret %v/%v", ref.Key, e.pod.Namespace, ref.Name)
		}
		return string(data), ok, nil
	}
	return "", true, nil
}

func (e *environment) secret(ctx context.Context, name string) (*corev1.Secret, error) {
	if s, ok := e.secrets[name]; ok {
		return s, nil
	}
	s, err := e.cluster.Secret(ctx, e.pod.Namespace, name)
	if err == nil {
		e.secrets[name] = s
	}
	return s, err
}

func (e *environment) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	if m, ok := e.configMaps[name]; ok {
		return m, nil
	}
	m, err := e.cluster.ConfigMap(ctx, e.pod.Namespace, name)
	if err == nil {
		e.configMaps[name] = m
	}
	return m, err
}

func unlessOptional(err error, optional *bool) error {
	if apierrors.IsNotFound(err) && ptr.Deref(optional, false) {
		return nil
	}
	return err
}

// podField is a field of the pod, or of its node, by downward API.
func podField(pod *corev1.Pod, f facts, path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs":
		return f.address, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod, path)
}

// resourceField is a request or limit of a container; a limit that is not set is what the node has.
func (e *environment) resourceField(ref *corev1.ResourceFieldSelector) (string, error) {
	limits := e.facts.allocatable
	if resourcehelper.IsPodLevelLimitsSet(e.pod) {
		limits = maps.Clone(limits)
		for name, q := range e.pod.Spec.Resources.Limits {
			if _, ok := limits[name]; ok {
				limits[name] = q
			}
		}
	}
	if ref.ContainerName != "" {
		return podresource.ExtractResourceValueByContainerNameAndNodeAllocatable(ref, e.pod, ref.ContainerName, limits)
	}
	c := e.c.DeepCopy()
	podresource.MergeContainerResourceLimits(c, limits)
	return podresource.ExtractContainerResourceValue(ref, c)
}

// serviceEnv tells where the API server is, as the kubelet does, but by its own address: on this
// machine nothing forwards the service's.
func serviceEnv(server string) map[string]string {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return nil
	}
	return map[string]string{
		"KUBERNETES_SERVICE_HOST":       host,
		"KUBERNETES_SERVICE_PORT":       port,
		"KUBERNETES_SERVICE_PORT_HTTPS": port,
	}
}

// defaultPath is the PATH of a container that sets none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// assignments is the environment as a process gets it: the variables in order, and what every
// container has.
func assignments(vars map[string]string, hostname string) []string {
	all := map[string]string{"PATH": defaultPath, "HOSTNAME": hostname, "HOME": "/"}
	maps.Copy(all, vars)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}

// commandLine is the container's command and arguments with $(VAR) replaced.
func commandLine(c *corev1.Container, vars map[string]string) []string {
	command, args := kubecontainer.ExpandContainerCommandAndArgs(c, envVars(vars))
	return slices.Concat(command, args)
}

func envVars(vars map[string]string) []kubecontainer.EnvVar {
	var list []kubecontainer.EnvVar
	for name, value := range vars {
		list = append(list, kubecontainer.EnvVar{Name: name, Value: value})
	}
	return list
}

// hostname is the name of the pod as a machine.
func hostname(pod *corev1.Pod) string {
	name := pod.Name
	if pod.Spec.Hostname != "" {
		name = pod.Spec.Hostname
	}
	name = ptr.Deref(pod.Spec.HostnameOverride, name)
	const longest = 63
	if len(name) > longest {
		name = strings.TrimRight(name[:longest], "-.")
	}
	return name
}
