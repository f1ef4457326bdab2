package plan

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/placement"
)

// Ask is something that a step's pod asks for, and who said so: what sentences about waiting and ending name.
type Ask struct {
	Of   AskOf  `json:"of"`
	What string `json:"what"` // kubernetes.io/arch=arm64, cpu 4, 512Mi
	By   string `json:"by"`   // the layers, as people call them: baseline, profile arm64
}

// AskOf is what kind of thing is asked for.
type AskOf string

const (
	AskNode    AskOf = "node"         // a label of the node, or required affinity to one
	AskRequest AskOf = "request"      // of any container of the pod; What begins with the resource's name
	AskLimit   AskOf = "memory limit" // of the step's container
	AskDisk    AskOf = "disk limit"   // likewise, of ephemeral storage
)

// asks finds them in the origins of a composed pod, in their order.
func asks(origins []placement.Origin) []Ask {
	var all []Ask
	add := func(of AskOf, what string, o placement.Origin) {
		by := make([]string, len(o.Layers))
		for i, layer := range o.Layers {
			by[i] = strings.ReplaceAll(layer, ":", " ")
		}
		all = append(all, Ask{of, what, strings.Join(by, " and ")})
	}
	for _, o := range origins {
		p := o.Path
		if o.Value == nil {
			continue
		}
		switch {
		case len(p) == 2 && p[0].Name == "nodeSelector":
			add(AskNode, fmt.Sprintf("%s=%v", p[1].Name, o.Value), o)
		case len(p) >= 3 && p[0].Name == "affinity" && p[1].Name == "nodeAffinity" && strings.HasPrefix(p[2].Name, "required"):
			add(AskNode, "required node affinity", o)
		case len(p) != 5 || p[2].Name != "resources": // of no container's resources
		case p[3].Name == "requests":
			add(AskRequest, fmt.Sprintf("%s %v", p[4].Name, o.Value), o)
		case p[3].Name != "limits" || p[0].Name != "containers" || p[1].Name != StepContainer:
		case p[4].Name == "memory":
			add(AskLimit, fmt.Sprint(o.Value), o)
		case p[4].Name == "ephemeral-storage":
			add(AskDisk, fmt.Sprint(o.Value), o)
		}
	}
	return all
}
