package fragment

import (
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

const (
	stepName  = "step"      // of the step's own container
	ownDomain = "berth.dev" // of Berth's labels and annotations
	ownPrefix = "BERTH_"    // of the names of Berth's environment variables
)

// Fields that are Berth's own, with what to do instead.
var (
	reservedOfPod = map[string]string{
		"nodeName":              "leave it out: the cluster's scheduler places pods; say where with nodeSelector or affinity",
		"restartPolicy":         "leave it out: write retry on the step",
		"activeDeadlineSeconds": "leave it out: write timeout on the step",
		"ephemeralContainers":   "leave it out: kubectl debug adds them to a pod that runs",
		"priority":              "write priorityClassName",
	}
	reservedOfContainer = map[string]string{
		"restartPolicy":      "leave it out: write retry on the step",
		"restartPolicyRules": "leave it out: write retry on the step",
	}
	reservedOfStep = map[string]string{
		"image":                    "write image on the step",
		"command":                  "write run or command on the step",
		"args":                     "write args on the step",
		"terminationMessagePath":   "leave it out: Berth reads the step's outputs there",
		"terminationMessagePolicy": "leave it out: Berth reads the step's outputs there",
	}
)

// reserved refuses a field that no fragment may set or remove, and says whether it did.
func (r *reader) reserved(f source.Field, at *trail) bool {
	switch list := at.up.container(); {
	case at.up.up == nil:
		return r.reservedOfPod(f, at)
	case list != "":
		return r.reservedOfContainer(f, at, list)
	case at.up.item != nil && at.up.up.up.container() != "":
		r.ownEnv(f, at)
		return false
	}
	if at.up.name != "labels" && at.up.name != "annotations" || !at.up.up.isMetadata() {
		return false
	}
	domain, _, ok := strings.Cut(f.Name, "/")
	if ok && (domain == ownDomain || strings.HasSuffix(domain, "."+ownDomain)) {
		return r.refuse(f.Key, at, "choose another domain", "labels and annotations below %s/ are Berth's own", ownDomain)
	}
	return false
}

func (r *reader) refuse(n *source.Node, at *trail, fix, format string, args ...any) bool {
	r.fault(n, finding.ReservedField, at, fix, format, args...)
	return true
}

func (r *reader) reservedOfPod(f source.Field, at *trail) bool {
	switch fix, ok := reservedOfPod[f.Name]; {
	case ok:
		return r.refuse(f.Key, at, fix, "%s is Berth's own in every pod", f.Name)
	case f.Name == "serviceAccount": // a lock or permit of the one would say nothing of the other
		return r.refuse(f.Key, at, "write serviceAccountName", "serviceAccount is the old name of serviceAccountName")
	case f.Name == "schedulingGates" && r.rules.Layer != placement.Baseline:
		return r.refuse(f.Key, at, "leave it out, or have the operator set it in the baseline", "only the baseline may have schedulingGates")
	case f.Name == "containers" && f.Value.Kind == source.Null && !r.rules.operators():
		return r.refuse(f.Value, at, "remove single containers: {name: NAME, $patch: delete}", "null would remove the step's own container")
	}
	return false
}

// reservedOfContainer refuses a field of a container in one of the lists of containers.
func (r *reader) reservedOfContainer(f source.Field, at *trail, list string) bool {
	isStep := at.up.called == stepName
	switch {
	case f.Name == "name" && isStep && list == "initContainers":
		return r.refuse(f.Value, at, "give it another name, or move it to containers", "the container %s is the step's own, and no init container", stepName)
	case f.Name == "restartPolicy" && list == "initContainers" && (f.Value.Value == "Always" || r.pending(f.Value)):
		return false // a native sidecar
	case f.Name == "restartPolicy" && list == "initContainers":
		return r.refuse(f.Key, at, "write Always, for a sidecar, or leave it out", "an init container's restartPolicy is Always, or not set")
	}
	if fix, ok := reservedOfContainer[f.Name]; ok {
		return r.refuse(f.Key, at, fix, "%s of a container is Berth's own", f.Name)
	}
	if fix, ok := reservedOfStep[f.Name]; ok && isStep && list == "containers" {
		return r.refuse(f.Key, at, fix, "%s of the container %s is Berth's own", f.Name, stepName)
	}
	return false
}

// ownEnv reports a container's environment variable that is Berth's. It is called for the fields of
// the items of a container's lists. What sets a variable stays, since Berth sets it again later.
func (r *reader) ownEnv(f source.Field, at *trail) {
	list := at.up.up.name
	if f.Value.Kind != source.String || !strings.HasPrefix(f.Value.Text, ownPrefix) {
		return
	}
	if list == "env" && f.Name == "name" || list == "envFrom" && f.Name == "prefix" {
		r.refuse(f.Value, at, "choose another name", "environment variables that begin with %s are Berth's own", ownPrefix)
	}
}

// isMetadata says whether the trail leads to what has labels and annotations of an object: to the
// fragment itself, or to the metadata of a template.
func (t *trail) isMetadata() bool { return t.up == nil || t.item == nil && t.name == "metadata" }

// removesStep refuses an item of the list of containers that would remove the container step: after
// all layers there is exactly one. Where nothing may be removed, composing says so.
func (r *reader) removesStep(item *source.Node, at *trail) bool {
	directive := item.Field("$patch")
	if directive == nil || r.rules.operators() || at.container() != "containers" {
		return false
	}
	all := directive.Value == "replace" && len(item.Fields) == 1
	if !all && (directive.Value != "delete" || at.called != stepName) {
		return false
	}
	return r.refuse(directive, at, "remove other containers one by one: {name: NAME, $patch: delete}", "this would remove the step's own container")
}

// toleratesEverything notes a toleration of an author that no taint can stand against.
func (r *reader) toleratesEverything(item *source.Node, at *trail) {
	if r.rules.operators() || !at.is("tolerations", "*") || item.Field("$patch") != nil {
		return
	}
	operator, key, effect := item.Field("operator"), item.Field("key"), item.Field("effect")
	if operator == nil || operator.Value != "Exists" || !absent(key) {
		return
	}
	which := "every taint"
	if !absent(effect) {
		which += " with effect " + effect.Text
	}
	r.found(item, finding.ToleratesEverything, finding.Note, at, "name the key of the taint that is meant", "this tolerates %s", which)
}

// absent says whether Kubernetes takes the value for one that is not there.
func absent(n *source.Node) bool {
	return n == nil || n.Kind == source.Null || n.Text == "" && n.Kind == source.String
}
