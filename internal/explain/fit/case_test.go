package fit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/transcript"
)

// A scene is a cluster and a pod that asks, as transcripts write them: manifests, less what every one has.
type scene struct {
	Objects
	pod *corev1.Pod
	// offline is why a real cluster can't be brought to it; "" if it can.
	offline string
}

// sceneOf reads the sections of a case. One that is not there is an empty list.
func sceneOf(t testing.TB, sections []transcript.Section) scene {
	t.Helper()
	s := scene{}
	s.Nodes, s.Pods, s.Namespaces = section[corev1.Node](t, sections, "nodes"), section[corev1.Pod](t, sections, "pods"), section[corev1.Namespace](t, sections, "namespaces")
	readAll(t, sections, "claims", &s.Claims)
	readAll(t, sections, "volumes", &s.Volumes)
	readAll(t, sections, "classes", &s.Classes)
	readAll(t, sections, "csi nodes", &s.CSINodes)
	readAll(t, sections, "csi drivers", &s.CSIDrivers)
	readAll(t, sections, "attachments", &s.Attachments)
	readAll(t, sections, "capacities", &s.Capacities)
	readAll(t, sections, "device classes", &s.DeviceClasses)
	pods := section[corev1.Pod](t, sections, "pod")
	if len(pods) != 1 {
		t.Fatalf("%d pods ask", len(pods))
	}
	s.pod = pods[0]
	for _, n := range s.Nodes {
		complete(n)
	}
	for _, p := range append(slices.Clone(s.Pods), s.pod) {
		completePod(p)
	}
	for _, c := range s.Claims {
		c.Namespace = or(c.Namespace, "shop")
	}
	s.offline = strings.TrimSpace(body(sections, "offline"))
	s.forget(strings.Fields(body(sections, "not readable")))
	return s
}

// forget makes what could not be read nil.
func (s *scene) forget(names []string) {
	for _, name := range names {
		switch name {
		case "pods":
			s.Pods = nil
		case "namespaces":
			s.Namespaces = nil
		case "claims":
			s.Claims = nil
		case "volumes":
			s.Volumes = nil
		case "classes":
			s.Classes = nil
		case "csinodes":
			s.CSINodes = nil
		case "csidrivers":
			s.CSIDrivers = nil
		case "attachments":
			s.Attachments = nil
		case "capacities":
			s.Capacities = nil
		case "deviceclasses":
			s.DeviceClasses = nil
		default:
			panic(name)
		}
	}
}

func body(sections []transcript.Section, name string) string {
	for _, s := range sections {
		if s.Name == name {
			return s.Body
		}
	}
	return ""
}

func readAll[T any](t testing.TB, sections []transcript.Section, name string, into *[]*T) {
	t.Helper()
	*into = section[T](t, sections, name)
}

// section reads a list of manifests, or one; a list that is not nil.
func section[T any](t testing.TB, sections []transcript.Section, name string) []*T {
	t.Helper()
	var items any
	if err := yaml.Unmarshal([]byte(body(sections, name)), &items); err != nil {
		t.Fatal(name, err)
	}
	list := []*T{}
	if one, ok := items.(map[string]any); ok {
		items = []any{one}
	}
	if items == nil {
		return list
	}
	for _, item := range items.([]any) {
		var v T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(item.(map[string]any), &v, true); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, &v)
	}
	return list
}

// complete gives a node what it says nothing of: room for what anyone may ask for.
func complete(n *corev1.Node) {
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = corev1.ResourceList{}
	}
	for name, q := range map[corev1.ResourceName]string{"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"} {
		if _, there := n.Status.Allocatable[name]; !there {
			n.Status.Allocatable[name] = resource.MustParse(q)
		}
	}
}

func completePod(p *corev1.Pod) {
	p.Namespace = or(p.Namespace, "shop")
	p.Name = or(p.Name, "pod")
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	for i := range p.Spec.Containers {
		p.Spec.Containers[i].Image = or(p.Spec.Containers[i].Image, "image")
	}
	for i := range p.Spec.InitContainers {
		p.Spec.InitContainers[i].Image = or(p.Spec.InitContainers[i].Image, "image")
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// show writes verdicts as transcripts have them.
func show(verdicts []Verdict) string {
	var b strings.Builder
	for _, v := range verdicts {
		switch {
		case v.Fits():
			fmt.Fprintf(&b, "%s: fits\n", v.Node)
		case len(v.Reasons) == 0:
			fmt.Fprintf(&b, "%s: may fit\n", v.Node)
		default:
			fmt.Fprintf(&b, "%s: does not fit\n", v.Node)
		}
		for _, r := range v.Reasons {
			fmt.Fprintf(&b, "  %s\n", line(r))
		}
		for _, u := range v.NotKnown {
			fmt.Fprintf(&b, "  not known: %s: %s\n", u.What, u.Why)
		}
		for _, r := range v.Notes {
			fmt.Fprintf(&b, "  note: %s\n", line(r))
		}
	}
	return b.String()
}

// line is a reason with where it comes from.
func line(r Reason) string {
	text := fmt.Sprintf("%s: %s", r.Kind, r)
	if r.Path != "" {
		text += "\n      by " + r.Path
	}
	if o := r.Other; o != nil {
		name := o.Name
		if o.Namespace != "" {
			name = o.Namespace + "/" + o.Name
		}
		text += strings.TrimRight(fmt.Sprintf("\n      of %s %s %s", o.Kind, name, o.Path), " ")
	}
	return text
}

// says is what the scheduler says, and where the pod may land.
func says(verdicts []Verdict) string {
	if fitting := fitting(verdicts); len(fitting) > 0 {
		return "lands on " + strings.Join(fitting, " or ")
	}
	return Counts(verdicts).String()
}

func fitting(verdicts []Verdict) []string {
	var names []string
	for i := range verdicts {
		if len(verdicts[i].Reasons) == 0 {
			names = append(names, verdicts[i].Node)
		}
	}
	return names
}
