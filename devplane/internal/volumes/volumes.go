// Package volumes provisions claims: a volume is a folder of this machine, so it is on every node
// of a devplane at once, and goes when its claim goes.
//
// The controller manager's own host-path provisioner is not used: it makes folders with mode
// 0750 below /tmp/hostpath_pv, where a step that is not root can't write and where they stay.
//
//	claim pending, class ours      -> make the folder, create a volume that refers to the claim
//	volume released, policy Delete -> remove the folder, delete the volume
//
// Binding and releasing are the controller manager's, as with any external provisioner.
package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/workqueue"
	volumehelper "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
)

// Annotations of the contract between the controller manager and external provisioners.
const (
	askedOf       = "volume.kubernetes.io/storage-provisioner" // on a claim
	provisionedBy = "pv.kubernetes.io/provisioned-by"          // on a volume
)

// Provisioner makes and removes volumes.
type Provisioner struct {
	// Name is what a StorageClass calls it.
	Name string
	// Dir holds a folder for each volume.
	Dir string
	// Client may watch claims and volumes, and create and delete volumes.
	Client kubernetes.Interface

	claims, volumes cache.Indexer
}

// key names a claim (with a namespace) or a volume (without).
type key = cache.ObjectName

// Run works until ctx is done.
func (p *Provisioner) Run(ctx context.Context) error {
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return err
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[key]())
	defer queue.ShutDown()
	enqueue := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }}
	factory := informers.NewSharedInformerFactory(p.Client, 0)
	claims, volumes := factory.Core().V1().PersistentVolumeClaims().Informer(), factory.Core().V1().PersistentVolumes().Informer()
	p.claims, p.volumes = claims.GetIndexer(), volumes.GetIndexer()
	for _, i := range []cache.SharedIndexInformer{claims, volumes} {
		if _, err := i.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	context.AfterFunc(ctx, queue.ShutDown)
	if !cache.WaitForCacheSync(ctx.Done(), claims.HasSynced, volumes.HasSynced) {
		return nil
	}
	for {
		name, closed := queue.Get()
		if closed {
			return nil
		}
		if err := p.sync(ctx, name); err != nil {
			klog.FromContext(ctx).Error(err, "provision", "object", name.String())
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

func (p *Provisioner) sync(ctx context.Context, name key) error {
	if name.Namespace == "" {
		if obj, ok, _ := p.volumes.GetByKey(name.Name); ok {
			return p.remove(ctx, obj.(*corev1.PersistentVolume))
		}
	} else if obj, ok, _ := p.claims.GetByKey(name.String()); ok {
		return p.provide(ctx, obj.(*corev1.PersistentVolumeClaim))
	}
	return nil
}

// provide makes a volume for a claim that asks for one. Anyone may write to the folder: the
// volume is one claim's, and a container may run as any user.
func (p *Provisioner) provide(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if claim.Annotations[askedOf] != p.Name || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil
	}
	if m := claim.Spec.VolumeMode; m != nil && *m == corev1.PersistentVolumeBlock {
		return fmt.Errorf("claim %s/%s: block volumes are not provided", claim.Namespace, claim.Name)
	}
	ref, err := reference.GetReference(scheme.Scheme, claim)
	if err != nil {
		return err
	}
	name := "pvc-" + string(claim.UID)
	path := filepath.Join(p.Dir, name)
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o777); err != nil { // MkdirAll is subject to the umask
		return err
	}
	kind := corev1.HostPathDirectory
	_, err = p.Client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{provisionedBy: p.Name}},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              volumehelper.GetPersistentVolumeClaimClass(claim), // by field, or by the old annotation
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      claim.Spec.Resources.Requests,
			ClaimRef:                      ref,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// remove deletes a volume of ours whose claim is gone, and its folder.
func (p *Provisioner) remove(ctx context.Context, pv *corev1.PersistentVolume) error {
	ours := pv.Annotations[provisionedBy] == p.Name && pv.Spec.HostPath != nil && filepath.Dir(pv.Spec.HostPath.Path) == p.Dir
	if !ours || pv.Status.Phase != corev1.VolumeReleased || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	if err := os.RemoveAll(pv.Spec.HostPath.Path); err != nil {
		return err
	}
	err := p.Client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pv.UID}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
