package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"
)

// volumePath is where a volume is on the machine.
type volumePath struct {
	path     string
	readOnly bool
}

// volumes makes the volumes of one pod.
type volumes struct {
	cluster Cluster
	facts   facts
	pod     *corev1.Pod
	dir     string // of the pod's own volumes, one folder each
	on      platform
}

// errUnbound is that of a claim which has no volume yet. The kubelet waits for it without a word.
var errUnbound = errors.New("claim is not bound")

// setUp makes a volume, or makes it again after an error. Errors are the kubelet's and may go
// away.
func (vs *volumes) setUp(ctx context.Context, v *corev1.Volume) (volumePath, error) {
	own := filepath.Join(vs.dir, v.Name)
	switch {
	case v.EmptyDir != nil:
		return volumePath{path: own}, vs.emptyDir(own)
	case v.HostPath != nil:
		return volumePath{path: v.HostPath.Path}, checkHostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		return vs.claim(ctx, v.PersistentVolumeClaim)
	}
	payload, err := vs.payload(ctx, v)
	if err != nil {
		return volumePath{}, err
	}
	return volumePath{path: own, readOnly: true}, vs.project(own, payload)
}

func (vs *volumes) emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	// Not by MkdirAll: that obeys this process's umask.
	if err := os.Chmod(dir, 0o777); err != nil {
		return err
	}
	return vs.own(dir, false)
}

// claim resolves a claim to the path of its volume.
func (vs *volumes) claim(ctx context.Context, ref *corev1.PersistentVolumeClaimVolumeSource) (volumePath, error) {
	claim, err := vs.cluster.Claim(ctx, vs.pod.Namespace, ref.ClaimName)
	if err != nil {
		return volumePath{}, err
	}
	if claim.Status.Phase != corev1.ClaimBound || claim.Spec.VolumeName == "" {
		return volumePath{}, errUnbound
	}
	pv, err := vs.cluster.Volume(ctx, claim.Spec.VolumeName)
	if err != nil {
		return volumePath{}, err
	}
	if pv.Spec.HostPath == nil {
		return volumePath{}, fmt.Errorf("volume %q is not a hostPath volume, which is all that this node can mount", pv.Name)
	}
	return volumePath{path: pv.Spec.HostPath.Path, readOnly: ref.ReadOnly}, checkHostPath(pv.Spec.HostPath)
}

// checkHostPath checks that a path is what its type says, or makes it if its type says so.
func checkHostPath(src *corev1.HostPathVolumeSource) error {
	path, kind := src.Path, ptr.Deref(src.Type, corev1.HostPathUnset)
	info, err := os.Stat(path)
	switch {
	case kind == corev1.HostPathUnset:
		return nil
	case os.IsNotExist(err) && kind == corev1.HostPathDirectoryOrCreate:
		return os.MkdirAll(path, 0o755)
	case os.IsNotExist(err) && kind == corev1.HostPathFileOrCreate:
		return os.WriteFile(path, nil, 0o644)
	case err != nil:
		return fmt.Errorf("hostPath type check failed: %w", err)
	}
	mode := info.Mode()
	for _, t := range []struct {
		kind corev1.HostPathType
		is   bool
		name string
	}{
		{corev1.HostPathDirectory, mode.IsDir(), "directory"},
		{corev1.HostPathDirectoryOrCreate, mode.IsDir(), "directory"},
		{corev1.HostPathFile, mode.IsRegular(), "file"},
		{corev1.HostPathFileOrCreate, mode.IsRegular(), "file"},
		{corev1.HostPathSocket, mode&os.ModeSocket != 0, "socket file"},
		{corev1.HostPathCharDev, mode&os.ModeCharDevice != 0, "character device"},
		{corev1.HostPathBlockDev, mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0, "block device"},
	} {
		if t.kind == kind && !t.is {
			return fmt.Errorf("hostPath type check failed: %s is not a %s", path, t.name)
		}
	}
	return nil
}

// project writes files into a folder, with the kubelet's own writer: a reader sees all or nothing.
func (vs *volumes) project(dir string, payload map[string]util.FileProjection) error {
	if err := vs.emptyDir(dir); err != nil {
		return err
	}
	w, err := util.NewAtomicWriter(dir, vs.pod.Name)
	if err != nil {
		return err
	}
	if !vs.on.namespaces {
		for name, f := range payload {
			f.FsUser = nil // everything belongs to the one user there is
			payload[name] = f
		}
	}
	return w.Write(payload, func(string) error { return vs.own(dir, true) })
}

// own gives a volume to the pod's fsGroup.
func (vs *volumes) own(dir string, readOnly bool) error {
	sc := vs.pod.Spec.SecurityContext
	if sc == nil || sc.FSGroup == nil {
		return nil
	}
	return volume.NewVolumeOwnership(attributes{readOnly: readOnly}, dir, sc.FSGroup, sc.FSGroupChangePolicy, nil).ChangePermissions()
}

// attributes is as much of a mounter as a change of ownership looks at.
type attributes struct {
	volume.Mounter
	readOnly bool
}

func (a attributes) GetAttributes() volume.Attributes { return volume.Attributes{ReadOnly: a.readOnly} }

// prepareSubPath makes a sub-path that is missing. No symbolic link may lead it out of the volume.
func prepareSubPath(volume, sub string) error {
	root, err := os.OpenRoot(volume)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Stat(sub); !os.IsNotExist(err) {
		return err
	}
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	return root.MkdirAll(sub, info.Mode().Perm())
}
