package process

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util"
	"k8s.io/utils/ptr"
)

// files are the contents of a volume, by path.
type files = map[string]util.FileProjection

// payload collects the files of a volume that is made of API objects.
func (vs *volumes) payload(ctx context.Context, v *corev1.Volume) (files, error) {
	switch {
	case v.Secret != nil:
		src := &corev1.SecretProjection{Items: v.Secret.Items, Optional: v.Secret.Optional}
		src.Name = v.Secret.SecretName
		return vs.secretFiles(ctx, src, v.Secret.DefaultMode)
	case v.ConfigMap != nil:
		src := &corev1.ConfigMapProjection{LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items, Optional: v.ConfigMap.Optional}
		return vs.configMapFiles(ctx, src, v.ConfigMap.DefaultMode)
	case v.DownwardAPI != nil:
		return vs.downwardFiles(v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	}
	all, errs := files{}, []error(nil)
	for i := range v.Projected.Sources {
		some, err := vs.source(ctx, &v.Projected.Sources[i], v.Projected.DefaultMode)
		if err != nil {
			errs = append(errs, err)
		}
		for path, f := range some {
			all[path] = f
		}
	}
	return all, utilerrors.NewAggregate(errs)
}

// source collects the files of one source of a projected volume.
func (vs *volumes) source(ctx context.Context, src *corev1.VolumeProjection, mode *int32) (files, error) {
	switch {
	case src.Secret != nil:
		return vs.secretFiles(ctx, src.Secret, mode)
	case src.ConfigMap != nil:
		return vs.configMapFiles(ctx, src.ConfigMap, mode)
	case src.DownwardAPI != nil:
		return vs.downwardFiles(src.DownwardAPI.Items, mode)
	case src.ServiceAccountToken != nil:
		return vs.tokenFile(ctx, src.ServiceAccountToken, mode)
	}
	return nil, nil
}

func (vs *volumes) secretFiles(ctx context.Context, src *corev1.SecretProjection, mode *int32) (files, error) {
	optional := ptr.Deref(src.Optional, false)
	s, err := vs.cluster.Secret(ctx, vs.pod.Namespace, src.Name)
	if optional && apierrors.IsNotFound(err) {
		s, err = &corev1.Secret{}, nil
	}
	if err != nil {
		return nil, err
	}
	return secret.MakePayload(src.Items, s, mode, nil, optional)
}

func (vs *volumes) configMapFiles(ctx context.Context, src *corev1.ConfigMapProjection, mode *int32) (files, error) {
	optional := ptr.Deref(src.Optional, false)
	m, err := vs.cluster.ConfigMap(ctx, vs.pod.Namespace, src.Name)
	if optional && apierrors.IsNotFound(err) {
		m, err = &corev1.ConfigMap{}, nil
	}
	if err != nil {
		return nil, err
	}
	return configmap.MakePayload(src.Items, m, mode, nil, optional)
}

func (vs *volumes) downwardFiles(items []corev1.DownwardAPIVolumeFile, mode *int32) (files, error) {
	return downwardapi.CollectData(items, vs.pod, nodeHost{allocatable: vs.facts.allocatable}, mode, nil)
}

// nodeHost is as much of a volume host as the downward API looks at.
type nodeHost struct {
	volume.VolumeHost
	allocatable corev1.ResourceList
}

func (h nodeHost) GetNodeAllocatable() (corev1.ResourceList, error) { return h.allocatable, nil }

// tokenFile asks for a token that is bound to the pod.
func (vs *volumes) tokenFile(ctx context.Context, src *corev1.ServiceAccountTokenProjection, mode *int32) (files, error) {
	req := &authenticationv1.TokenRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: vs.pod.Namespace},
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: src.ExpirationSeconds,
			BoundObjectRef: &authenticationv1.BoundObjectReference{
				APIVersion: "v1", Kind: "Pod", Name: vs.pod.Name, UID: vs.pod.UID,
			},
		},
	}
	if src.Audience != "" {
		req.Spec.Audiences = []string{src.Audience}
	}
	token, err := vs.cluster.Token(ctx, vs.pod.Namespace, vs.pod.Spec.ServiceAccountName, req)
	if err != nil {
		return nil, err
	}
	f := util.FileProjection{Data: []byte(token.Status.Token), Mode: ptr.Deref(mode, 0o644), FsUser: util.FsUserFrom(vs.pod)}
	// A change of ownership makes it readable for the group again.
	if sc := vs.pod.Spec.SecurityContext; f.FsUser != nil || sc != nil && sc.FSGroup != nil {
		f.Mode = 0o600
	}
	return files{src.Path: f}, nil
}
