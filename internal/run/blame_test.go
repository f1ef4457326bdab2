package run

import (
	"testing"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
)

// A sentence names the layer that has to change, where it is about something that a layer asks for.
func TestBlame(t *testing.T) {
	s := &plan.Step{Asks: []plan.Ask{
		{Of: plan.AskNode, What: "kubernetes.io/arch=arm64", By: "profile arm64"},
		{Of: plan.AskNode, What: "tier=critical", By: "baseline"},
		{Of: plan.AskRequest, What: "cpu 8", By: "resources"},
		{Of: plan.AskRequest, What: "nvidia.com/gpu 1", By: "resources"},
		{Of: plan.AskLimit, What: "512Mi", By: "baseline"},
		{Of: plan.AskDisk, What: "1Mi", By: "profile disk"},
	}}
	for _, c := range []struct {
		code          reason.Code
		message, want string
	}{
		{reason.OOMKilled, "the step's container was killed, since it needed more memory than its limit",
			"the step's container was killed, since it needed more memory than its limit of 512Mi, set by baseline; raise resources.memory"},
		{reason.Evicted, "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ",
			"Pod ephemeral local storage usage exceeds the total limit of containers 1Mi, set by profile disk"},
		{reason.Evicted, "The node was low on resource: memory.", "The node was low on resource: memory."},
		{reason.Unschedulable, "0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint(s).",
			"0/3 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint(s). cpu 8 comes from resources"},
		{reason.Unschedulable, "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector.",
			"0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector. kubernetes.io/arch=arm64 comes from profile arm64, tier=critical comes from baseline, nvidia.com/gpu 1 comes from resources"},
		{reason.Unschedulable, "0/3 nodes are available: 3 node(s) had untolerated taint(s).", "0/3 nodes are available: 3 node(s) had untolerated taint(s)."},
		{reason.ExitCode, "exit code 3", "exit code 3"},
	} {
		if got := blame(s, c.code, c.message); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.code, got, c.want)
		}
		if got := blame(&plan.Step{}, c.code, c.message); got != c.message {
			t.Errorf("%s: %s, and nothing is asked for", c.code, got)
		}
	}
}
