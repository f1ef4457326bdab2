package process

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// paths are the places of one run of a container on the machine.
type paths struct {
	scratch string // an empty folder
	log     string
	message string // the termination message, an empty file
}

// mount is a volume in a container, with its sub-path resolved.
type mount struct {
	volume   volumePath
	subPath  string
	target   string
	readOnly bool
	token    bool
}

// planMounts resolves the volume mounts of a container, parents before children.
func planMounts(c *corev1.Container, volumes map[string]volumePath, vars map[string]string) ([]mount, error) {
	var mounts []mount
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		v, ok := volumes[m.Name]
		if !ok {
			return nil, fmt.Errorf("cannot find volume %q to mount into container %q", m.Name, c.Name)
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			var err error
			if sub, err = kubecontainer.ExpandContainerVolumeMounts(*m, envVars(vars)); err != nil {
				return nil, err
			}
		}
		switch {
		case path.IsAbs(sub):
			return nil, fmt.Errorf("error SubPath `%s` must not be an absolute path", sub)
		case slices.Contains(strings.Split(sub, "/"), ".."):
			return nil, fmt.Errorf("unable to provision SubPath `%s`: must not contain '..'", sub)
		}
		mounts = append(mounts, mount{
			volume: v, subPath: sub, target: path.Clean("/" + m.MountPath),
			readOnly: m.ReadOnly || v.readOnly, token: isToken(m),
		})
	}
	slices.SortStableFunc(mounts, func(a, b mount) int {
		return cmp.Compare(strings.Count(a.target, "/"), strings.Count(b.target, "/"))
	})
	return mounts, nil
}

// onMachine is where the mount is outside the container.
func (m mount) onMachine() string { return filepath.Join(m.volume.path, m.subPath) }

// planContainer is what the shim is to make of a container.
func planContainer(pod *corev1.Pod, c *corev1.Container, id identity, vars map[string]string, mounts []mount, at paths) *shimspec.Spec {
	spec := &shimspec.Spec{
		Scratch: at.scratch, Hostname: hostname(pod), ReadOnlyRoot: id.readOnlyRoot,
		Argv: commandLine(c, vars), Env: assignments(vars, hostname(pod)), Dir: cmp.Or(c.WorkingDir, "/"),
		UID: uint32(id.uid), GID: uint32(id.gid), Capabilities: id.capabilities, NoNewPrivs: id.noNewPrivs,
	}
	for _, g := range id.groups {
		spec.Groups = append(spec.Groups, uint32(g))
	}
	for _, m := range mounts {
		spec.Mounts = append(spec.Mounts, shimspec.Mount{Source: m.volume.path, SubPath: m.subPath, Target: m.target, ReadOnly: m.readOnly})
	}
	if c.TerminationMessagePath != "" {
		spec.Mounts = append(spec.Mounts, shimspec.Mount{Source: at.message, Target: path.Clean("/" + c.TerminationMessagePath)})
	}
	return spec
}

// planProcess is the command of a container that has no namespaces: its paths in variables are
// those on the machine.
func planProcess(pod *corev1.Pod, c *corev1.Container, vars map[string]string, mounts []mount, at paths) (*shimspec.Spec, error) {
	places := map[string]string{}
	for _, m := range mounts {
		places[m.target] = m.onMachine()
	}
	if c.TerminationMessagePath != "" {
		places[path.Clean("/"+c.TerminationMessagePath)] = at.message
	}
	local := make(map[string]string, len(vars))
	reached := map[string]bool{}
	for name, value := range vars {
		local[name] = value
		if place, rest, ok := find(places, value); ok {
			local[name], reached[place] = filepath.Join(places[place], rest), true
		}
	}
	var errs []error
	for _, m := range mounts {
		if !reached[m.target] && !m.token {
			errs = append(errs, fmt.Errorf("no environment variable leads to the mount %s", m.target))
		}
	}
	dir := cmp.Or(c.WorkingDir, "/")
	if place, rest, ok := find(places, dir); ok {
		dir = filepath.Join(places[place], rest)
	}
	return &shimspec.Spec{Argv: commandLine(c, local), Env: assignments(local, hostname(pod)), Dir: dir}, errors.Join(errs...)
}

// find is the deepest place that a path is in, and the rest of the path below it.
func find(places map[string]string, p string) (place, rest string, ok bool) {
	for candidate := range places {
		if below(candidate, p) && len(candidate) > len(place) {
			place, ok = candidate, true
		}
	}
	return place, strings.TrimPrefix(p, place), ok
}
