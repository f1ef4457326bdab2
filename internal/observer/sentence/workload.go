package sentence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// workloads says the records: the pods of a workload that are alike once, with their containers.
func (w *writer) workloads(p *observer.WorkloadMetadata) {
	w.line("%s", plural(len(p.Records), "record"))
	for i := 0; i < len(p.Records); {
		first := &p.Records[i]
		end := i
		for end < len(p.Records) && sameWorkload(&p.Records[end].Key, &first.Key) {
			end++
		}
		w.line("")
		w.line("%s", title(&first.Key))
		for _, alike := range together(p.Records[i:end]) {
			w.pods(alike)
		}
		i = end
	}
}

func sameWorkload(a, b *observer.Key) bool {
	return a.Namespace == b.Namespace && a.WorkloadKind == b.WorkloadKind && a.WorkloadName == b.WorkloadName
}

func title(k *observer.Key) string {
	switch k.WorkloadKind {
	case "Pod":
		return fmt.Sprintf("%s: the pod %s, which nothing controls", k.Namespace, k.WorkloadName)
	case "Node":
		return fmt.Sprintf("%s: pods that the node %s runs on its own account", k.Namespace, k.WorkloadName)
	}
	return fmt.Sprintf("%s: %s %s", k.Namespace, k.WorkloadKind, k.WorkloadName)
}

// together gathers the containers of the same pods: records of one variant that say the same of their pods.
func together(records []observer.Record) [][]*observer.Record {
	var order []string
	of := map[string][]*observer.Record{}
	for i := range records {
		r := &records[i]
		pods, err := observer.Encode(r.Pod)
		if err != nil {
			panic(err) // it was decoded
		}
		key := r.Variant + string(pods)
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], r)
	}
	var all [][]*observer.Record
	for _, key := range order {
		all = append(all, of[key])
	}
	return all
}

// pods says what is the same for all containers of some pods, and then what is not.
func (w *writer) pods(records []*observer.Record) {
	p := &records[0].Pod
	where := ""
	if len(p.Nodes) > 0 {
		where = ": " + counted(p.Nodes, "%d on %s")
	}
	w.line("  %s (%s)%s", plural(p.Replicas, "pod"), strings.ToLower(counted(p.Phases, "%d %s")), where)
	w.waiting(p)
	for _, r := range records {
		w.container(r)
	}
	if p.Resources != nil {
		w.line("    the pod as a whole %s", asks(p.Resources))
	}
	if len(p.Overhead) > 0 {
		w.line("    its runtime class adds %s", amounts(p.Overhead))
	}
	w.forbids(records)
}

func (w *writer) container(r *observer.Record) {
	what := "container"
	switch r.Init {
	case observer.InitSidecar:
		what = "sidecar"
	case observer.InitOnce:
		what = "init container"
	}
	digest := "no build known yet"
	if r.ImageDigest != "" {
		_, hex, _ := strings.Cut(r.ImageDigest, ":")
		digest = "build " + hex[:min(len(hex), 12)]
	}
	image := r.Image
	if image == "" {
		image = "image unknown"
	}
	w.line("    %s %s, %s (%s): %s", what, r.Container, image, digest, asks(r.Resources))
}

var reasons = map[string]string{
	observer.ReasonUnschedulable:   "no node fits",
	observer.ReasonSchedulingGated: "a gate keeps the scheduler from looking",
	observer.ReasonSchedulerError:  "the scheduler failed",
	observer.ReasonOther:           "no scheduler has said anything yet",
}

var causes = map[string]string{
	observer.CauseUntoleratedTaint:   "a taint that it does not tolerate",
	observer.CauseNodeAffinity:       "its node selector or affinity",
	observer.CauseInsufficientCPU:    "too little cpu",
	observer.CauseInsufficientMemory: "too little memory",
	observer.CauseInsufficientOther:  "too little of another resource",
	observer.CausePodAffinity:        "its pod affinity",
	observer.CausePodAntiAffinity:    "pod anti-affinity, its own or that of a pod there",
	observer.CauseTopologySpread:     "its topology spread",
	observer.CauseVolumeAffinity:     "where its volumes are",
	observer.CausePorts:              "a port of the node that is taken",
	observer.CauseUnschedulableNode:  "the node takes no new pods",
	observer.CauseTooManyPods:        "the node has as many pods as it may",
	observer.CauseOther:              "something else",
}

func (w *writer) waiting(p *observer.Pod) {
	for _, reason := range slices.Sorted(maps.Keys(p.Unscheduled)) {
		w.line("    %s without a node: %s", plural(p.Unscheduled[reason], "pod"), reasons[reason])
	}
	if len(p.UnscheduledCauses) == 0 {
		return
	}
	var all []string
	for _, c := range observer.Causes() {
		if p.UnscheduledCauses[c] > 0 {
			all = append(all, causes[c])
		}
	}
	w.line("    what the scheduler says against one node or another: %s", strings.Join(all, "; "))
}
