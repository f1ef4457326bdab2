package podspec

import (
	"reflect"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/pipeline"
)

// A field that is newer than Berth comes through plan and pod as it was written. Whether there is such a
// field is for the API server to say: this one does not know it, and refuses the pod in its own words.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	const fragment = `
newerField: {list: [{x: 1, y: "$(A)"}, {x: 2}], flag: false, size: 1.5, none: {}}
containers: [{name: step, newerList: [b, a, b], newerFlag: true}]`
	const step = `
version: 1
name: newer
environment: target
steps:
  - name: only
    image: devplane/busybox:1
    resources: {cpu: 100m, memory: 16Mi}
    command: ["true"]
`
	const operator = `
version: 1
environments: [{name: target, permits: {k8s_overlay: true}}]
`
	for _, test := range []struct{ name, operator, pipeline string }{
		{"from a profile", operator + "placement_profiles:\n  - name: newer\n    default: true\n    k8s:" + indented(fragment, 6), step},
		{"from an overlay", operator + "executor: {kubernetes: {pod_security: privileged}}", step + "    k8s_overlay:" + indented(fragment, 6)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			operator := loaded(t, test.operator)
			made := planned(t, test.pipeline, operator, pipeline.Input{})
			n := newNamespace(t, operator.PodSecurity)
			pod := attempt(t, &made.Steps[0], n.facts())

			spec, wrote := pod["spec"].(map[string]any), integers(read(t, fragment)).(map[string]any)
			container, wroteIn := named(spec["containers"], "step"), named(wrote["containers"], "step")
			for _, field := range []struct {
				path        string
				got, wanted any
			}{
				{"newerField", spec["newerField"], wrote["newerField"]},
				{"containers[step].newerList", container["newerList"], wroteIn["newerList"]},
				{"containers[step].newerFlag", container["newerFlag"], wroteIn["newerFlag"]},
			} {
				if !reflect.DeepEqual(field.got, field.wanted) {
					t.Errorf("%s is %s in the pod, and was written as %s", field.path, shown(field.got), shown(field.wanted))
				}
			}
			_, _, err := n.create(t, pod, true)
			if !apierrors.IsBadRequest(err) {
				t.Fatalf("not refused: %v", err)
			}
			for _, words := range []string{`unknown field "spec.newerField"`, `unknown field "spec.containers[0].newerList"`, `unknown field "spec.containers[0].newerFlag"`} {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("no %q in %q", words, err)
				}
			}
		})
	}
}

// indented puts a text in lines below a key.
func indented(text string, by int) string {
	return strings.ReplaceAll("\n"+strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", by)) + "\n"
}

func named(list any, name string) map[string]any {
	all, _ := list.([]any)
	m, _ := find(all, name).(map[string]any)
	return m
}

// integers is a value with its integers as int64, which is how they stand in pods.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = integers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = integers(e)
		}
	case int:
		return int64(v)
	}
	return v
}
