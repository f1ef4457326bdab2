package govern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// checks is Kubernetes' registry of pod security checks. Nothing writes to it.
var checks = sync.OnceValue(func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err) // Kubernetes' own checks contradict each other
	}
	return e
})

// security is the standard that pods are held to.
type security struct{ level api.Level }

func newSecurity(s profile.PodSecurity) security {
	level, _ := api.ParseLevel(string(s)) // restricted, if it is none
	return security{level}
}

// secure evaluates the pod security standard on the pod. Nothing breaks privileged.
func (c composed) secure(s security) []finding.Finding {
	var found []finding.Finding
	version := api.LevelVersion{Level: s.level, Version: api.LatestVersion()}
	for _, result := range checks().EvaluatePod(version, &c.pod.ObjectMeta, &c.pod.Spec) {
		if !result.Allowed {
			found = append(found, c.forbidden(s, result))
		}
	}
	return found
}

func (c composed) forbidden(s security, result policy.CheckResult) finding.Finding {
	layers, path := c.offenders(result)
	message := fmt.Sprintf("the pod breaks the pod security standard %s, %s: %s", s.level, result.ForbiddenReason, result.ForbiddenDetail)
	fix := "set what it demands"
	switch {
	case slices.Contains(layers, placement.Overlay.String()):
		fix = "leave it out of k8s_overlay"
	case slices.ContainsFunc(layers, isOperators):
		fix = "ask the cluster's operator: the operator file contradicts its own pod_security"
	}
	if len(layers) > 0 {
		message += ", " + setBy(layers)
	}
	return c.blame(finding.Finding{Code: finding.PodSecurityForbids, Severity: finding.Error, Message: message, Fix: fix}, layers, path)
}

// offence is a field that a check looks at.
type offence struct {
	field string
	value func(any) bool // whether the check minds the value; nil: any
}

func is(bad any) func(any) bool { return func(v any) bool { return v == bad } }

// offences has the fields that checks look at, by the reason that they give.
var offences = map[string][]offence{
	"allowPrivilegeEscalation != false": {{"allowPrivilegeEscalation", is(true)}},
	"forbidden AppArmor profile":        {{"appArmorProfile", nil}, {"annotations", nil}},
	"forbidden AppArmor profiles":       {{"appArmorProfile", nil}, {"annotations", nil}},
	"forbidden sysctls":                 {{"sysctls", nil}},
	"host namespaces":                   {{"hostNetwork", is(true)}, {"hostPID", is(true)}, {"hostIPC", is(true)}},
	"hostPath volumes":                  {{"hostPath", nil}},
	"hostPort":                          {{"hostPort", nil}},
	"hostProcess":                       {{"hostProcess", is(true)}},
	"non-default capabilities":          {{"add", nil}},
	"privileged":                        {{"privileged", is(true)}},
	"probe or lifecycle host":           {{"host", nil}},
	"procMount":                         {{"procMount", nil}},
	"restricted volume types":           {{"volumes", nil}},
	"runAsNonRoot != true":              {{"runAsNonRoot", is(false)}},
	"runAsUser=0":                       {{"runAsUser", is(int64(0))}},
	"seLinuxOptions":                    {{"seLinuxOptions", nil}},
	"seccompProfile":                    {{"seccompProfile", nil}},
	"unrestricted capabilities":         {{"add", nil}, {"drop", nil}},
}

// offenders gives the layers that set what a check minds, and where, as far as it can be told: something that
// nobody set has none.
func (c composed) offenders(result policy.CheckResult) (layers []string, path placement.Path) {
	for _, o := range c.Origins {
		if o.Value == nil || !offends(o, result) {
			continue
		}
		for _, layer := range o.Layers {
			if !slices.Contains(layers, layer) {
				layers = append(layers, layer)
			}
		}
		if path == nil || slices.Contains(o.Layers, placement.Overlay.String()) {
			path = o.Path
		}
	}
	return layers, path
}

func offends(o placement.Origin, result policy.CheckResult) bool {
	if len(o.Path) > 1 && o.Path[1].Item && !strings.Contains(result.ForbiddenDetail, strconv.Quote(o.Path[1].Name)) {
		return false // of a container or volume that the check does not name
	}
	return slices.ContainsFunc(offences[result.ForbiddenReason], func(f offence) bool {
		i := slices.IndexFunc(o.Path, func(s placement.Segment) bool { return !s.Item && s.Name == f.field })
		switch {
		case i < 0:
			return false
		case f.field == "annotations":
			return len(o.Path) > 1 && strings.HasPrefix(o.Path[1].Name, "container.apparmor.")
		case f.field == "volumes" && o.Path[len(o.Path)-1].Item:
			return false // its name
		}
		return f.value == nil || f.value(o.Value)
	})
}
