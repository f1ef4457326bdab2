package cli

import (
	"context"

	"github.com/berthdev/berth/internal/census"
	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/kubeclient"
)

type clusterReader struct {
	ctx       context.Context
	reader    *kubeclient.Reader
	census    *census.Census
	namespace string
}

// listedObjects is what came of listing a resource.
type listedObjects struct {
	namespace string // "" for all
	objects   []any
	err       error
}

func (r *clusterReader) list(resource, namespace string) listedObjects {
	l := listedObjects{namespace: namespace}
	l.err = r.reader.Each(r.ctx, resource, namespace, func(o runtimeObject) { l.objects = append(l.objects, o) })
	return l
}

// take adds what was listedObjects, or notes why it was not. Of pods that may not be listedObjects in all namespaces, those
// of the subject's own are: what they are is known, and what else is on their nodes is not.
func (r *clusterReader) take(resource string, optional bool, l listedObjects) error {
	if kubeclient.IsForbidden(l.err) {
		where := "in all namespaces"
		if l.namespace != "" {
			where = "in the namespace " + l.namespace
		}
		if !optional {
			r.census.Unread(explain.Unread{What: resource, Why: "no right to list them " + where})
		}
		if resource != "pods" {
			return nil
		}
		own := r.list(resource, r.namespace)
		if own.err != nil {
			return own.err
		}
		for _, o := range own.objects {
			r.census.AddOwn(o)
		}
		return nil
	}
	if kubeclient.IsAbsent(l.err) && optional {
		return nil
	}
	if l.err != nil {
		return l.err
	}
	if !optional {
		r.census.Listed(resource)
	}
	for _, o := range l.objects {
		if err := r.census.AddUntyped(o); err != nil {
			return err
		}
	}
	return nil
}
