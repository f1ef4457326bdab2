package kube

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Codecs have the kinds of the core group. client-go's typed clients bring the kinds of every group that Kubernetes
// has, which would be a third of the program and most of the memory that it takes for a small run.
var (
	scheme     = coreScheme()
	Codecs     = serializer.NewCodecFactory(scheme).WithoutConversion()
	parameters = runtime.NewParameterCodec(scheme)
)

func coreScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	if err := corev1.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}

// objects are the objects of one kind in one namespace, as a client sees them.
type objects struct {
	client          rest.Interface
	name, namespace string
}

func pods(c rest.Interface, namespace string) objects { return objects{c, "pods", namespace} }
func claims(c rest.Interface, namespace string) objects {
	return objects{c, "persistentvolumeclaims", namespace}
}

func (r objects) get(ctx context.Context, name string, into runtime.Object) error {
	return r.client.Get().Namespace(r.namespace).Resource(r.name).Name(name).Do(ctx).Into(into)
}

func (r objects) create(ctx context.Context, o runtime.Object) error {
	options := &metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	return r.client.Post().Namespace(r.namespace).Resource(r.name).VersionedParams(options, parameters).Body(o).Do(ctx).Error()
}

func (r objects) delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return r.client.Delete().Namespace(r.namespace).Resource(r.name).Name(name).Body(&o).Do(ctx).Error()
}

func (r objects) list(ctx context.Context, o metav1.ListOptions, into runtime.Object) error {
	return r.client.Get().Namespace(r.namespace).Resource(r.name).VersionedParams(&o, parameters).Do(ctx).Into(into)
}

func (r objects) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return r.client.Get().Namespace(r.namespace).Resource(r.name).VersionedParams(&o, parameters).Watch(ctx)
}

func (r objects) log(ctx context.Context, name string, o *corev1.PodLogOptions) (io.ReadCloser, error) {
	return r.client.Get().Namespace(r.namespace).Resource(r.name).Name(name).SubResource("log").VersionedParams(o, parameters).Stream(ctx)
}
