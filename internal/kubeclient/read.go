package kubeclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/flowcontrol"
)

// page is how many objects one request lists. It bounds what the API server has to hold for it.
const page = 500

// Reader lists objects, a page at a time, and does nothing else. It may be used by several goroutines, which
// share its limit of requests.
type Reader struct {
	*Client
	groups map[string]rest.Interface // by name
}

// Reader gives one that asks in protobuf, where the API server has it.
func (c *Client) Reader() (*Reader, error) {
	config := rest.CopyConfig(c.config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(readable()).WithoutConversion()
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	r := &Reader{c, map[string]rest.Interface{}}
	for _, where := range resources {
		if r.groups[where.group] != nil {
			continue
		}
		group := rest.CopyConfig(config)
		group.APIPath, group.GroupVersion = "/apis", &schema.GroupVersion{Group: where.group, Version: "v1"}
		if where.group == "" {
			group.APIPath = "/api"
		}
		k, err := rest.RESTClientFor(group)
		if err != nil {
			return nil, unusable(err)
		}
		r.groups[where.group] = k
	}
	return r, nil
}

// Each gives every object of a resource, as kubectl calls it, to each, in the API server's order; an empty namespace means all of
// them. Objects are pointers to the types of k8s.io/api, of custom resources *unstructured.Unstructured.
func (r *Reader) Each(ctx context.Context, resource, namespace string, each func(runtime.Object)) error {
	list := r.lister(resource, namespace)
	if list == nil {
		return fmt.Errorf("kubeclient: no resource %s", resource)
	}
	p := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		ctx, cancel := withPatience(ctx) // for each page
		defer cancel()
		return list(ctx, opts)
	})
	p.PageSize = page
	err := p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		each(o)
		return nil
	})
	if err != nil {
		return r.explain(err)
	}
	return nil
}

// IsForbidden says whether an error is the API server's no to who asks.
func IsForbidden(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Reason == metav1.StatusReasonForbidden
}

// IsAbsent says whether an error is that the API server does not have such objects at all, as without the
// custom resource's definition.
func IsAbsent(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && answer.Status().Reason == metav1.StatusReasonNotFound
}

// kind is where the API has the objects of one kind, in version v1.
type kind struct {
	group, name string
	list        runtime.Object // an empty one, to be copied

	namespace, field string // of the only object that is read, where not all are: field is a selector
}

// resources are all that can be read.
var resources = map[string]kind{
	"nodes":                  {name: "nodes", list: &corev1.NodeList{}},
	"pods":                   {name: "pods", list: &corev1.PodList{}},
	"namespaces":             {name: "namespaces", list: &corev1.NamespaceList{}},
	"persistentvolumeclaims": {name: "persistentvolumeclaims", list: &corev1.PersistentVolumeClaimList{}},
	"persistentvolumes":      {name: "persistentvolumes", list: &corev1.PersistentVolumeList{}},
	"replicationcontrollers": {name: "replicationcontrollers", list: &corev1.ReplicationControllerList{}},
	"autoscaler status":      {name: "configmaps", list: &corev1.ConfigMapList{}, namespace: metav1.NamespaceSystem, field: "metadata.name=cluster-autoscaler-status"},
	"deployments":            {group: "apps", name: "deployments", list: &appsv1.DeploymentList{}},
	"replicasets":            {group: "apps", name: "replicasets", list: &appsv1.ReplicaSetList{}},
	"statefulsets":           {group: "apps", name: "statefulsets", list: &appsv1.StatefulSetList{}},
	"daemonsets":             {group: "apps", name: "daemonsets", list: &appsv1.DaemonSetList{}},
	"jobs":                   {group: "batch", name: "jobs", list: &batchv1.JobList{}},
	"cronjobs":               {group: "batch", name: "cronjobs", list: &batchv1.CronJobList{}},
	"poddisruptionbudgets":   {group: "policy", name: "poddisruptionbudgets", list: &policyv1.PodDisruptionBudgetList{}},
	"storageclasses":         {group: "storage.k8s.io", name: "storageclasses", list: &storagev1.StorageClassList{}},
	"csinodes":               {group: "storage.k8s.io", name: "csinodes", list: &storagev1.CSINodeList{}},
	"csidrivers":             {group: "storage.k8s.io", name: "csidrivers", list: &storagev1.CSIDriverList{}},
	"volumeattachments":      {group: "storage.k8s.io", name: "volumeattachments", list: &storagev1.VolumeAttachmentList{}},
	"csistoragecapacities":   {group: "storage.k8s.io", name: "csistoragecapacities", list: &storagev1.CSIStorageCapacityList{}},
	"runtimeclasses":         {group: "node.k8s.io", name: "runtimeclasses", list: &nodev1.RuntimeClassList{}},
}

// readable has the kinds of resources, and no others: see package kube's Codecs.
func readable() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme,
		storagev1.AddToScheme, nodev1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

var custom = map[string]schema.GroupVersionResource{
	"nodepools":  {Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
	"nodeclaims": {Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
}

type lister func(context.Context, metav1.ListOptions) (runtime.Object, error)

// lister lists a page of a resource; nil if there is no such resource.
func (r *Reader) lister(name, namespace string) lister {
	if where, ok := resources[name]; ok {
		namespace = cmp.Or(where.namespace, namespace)
		return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.FieldSelector = where.field
			page := where.list.DeepCopyObject()
			return page, r.groups[where.group].Get().NamespaceIfScoped(namespace, namespace != "").Resource(where.name).
				VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(page)
		}
	}
	gvr, ok := custom[name]
	if !ok {
		return nil
	}
	return func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		list, err := r.dynamic.Resource(gvr).List(ctx, opts)
		if list == nil {
			list = &unstructured.UnstructuredList{}
		}
		return list, err
	}
}
