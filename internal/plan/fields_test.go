package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// everyKey is a pipeline that has every key there is, and another value for each: what a run of it would do
// has to be different. "-" leaves the key out instead.
const everyKey = `
version: 1
name: p
description: d
environment: prod
timeout: 1h
params:
  v: {default: x, pattern: "^x"}
max_active_steps: 3
workspace: {size: 1Gi, storage_class: fast, access_mode: ReadWriteOnce}
defaults:
  image: default
  shell: [bash, -e]
  working_dir: /dir
  env: {D: "1"}
  secrets: {S: s/k}
  services: [{name: dsvc, image: i}]
  placement_profiles: [a]
  resources: {cpu: "1"}
  k8s_overlay: {hostname: h}
  service_account: sa
  workspace: true
  pool: one
  priority: 1
  retry: {max: 1}
  timeout: 10m
  schedule_timeout: 10m
  image_timeout: 10m
  allow_failure: true
steps:
  - name: first
    run: x
  - name: all
    needs: [first]
    if: always()
    matrix: {m: [a]}
    run: make ${{ params.v }}
    outputs: [o]
    image: i
    shell: [sh, -e]
    working_dir: /w
    env: {E: "1"}
    secrets: {T: s/k}
    services:
      - name: svc
        image: i
        command: [c]
        args: [a]
        env: {E: "1"}
        ready: {http: {port: 80, path: /x}}
        resources: {cpu: "1"}
      - {name: other, image: i, ready: {tcp: 81}}
      - {name: third, image: i, ready: {exec: [x]}}
    placement_profiles: [a]
    resources: {cpu: "1"}
    k8s_overlay: {hostname: h}
    service_account: sa
    workspace: true
    pool: one
    priority: 2
    retry: {max: 2, on: [lost], backoff: 5s}
    timeout: 20m
    schedule_timeout: 20m
    image_timeout: 20m
    allow_failure: true
  - name: command
    needs: [first]
    command: [c]
    args: [a]
`

const everyKeyOperator = `
version: 1
placement_profiles:
  - {name: a, k8s: {nodeSelector: {a: x}}}
  - {name: b, k8s: {nodeSelector: {b: x}}}
environments:
  - {name: prod, permits: {k8s_overlay: true, secrets: [s, s2], service_accounts: [sa, sb]}}
  - {name: staging, permits: {k8s_overlay: true, secrets: [s, s2], service_accounts: [sa, sb]}}
pools: [{name: one, slots: 1}, {name: two, slots: 1}]
`

// other has another value for each key, by the type that has it and the key.
var other = map[string]any{
	"Pipeline.name": "q", "Pipeline.description": "e", "Pipeline.environment": "staging", "Pipeline.timeout": "2h",
	"Pipeline.max_active_steps": 4, "Pipeline.params": map[string]any{"v": map[string]any{"default": "xy"}},
	"Pipeline.workspace": map[string]any{"size": "1Gi", "access_mode": "ReadWriteMany"}, "Pipeline.defaults": map[string]any{"image": "z"}, "Pipeline.steps": []any{map[string]any{"name": "only", "run": "x"}},
	"Param.default": "xx", "Workspace.size": "2Gi", "Workspace.storage_class": "slow", "Workspace.access_mode": "ReadWriteMany",
	"Step.name": "renamed", "Step.needs": []any{}, "Step.if": "failure()", "Step.matrix": map[string]any{"m": []any{"b"}},
	"Step.run": "other", "Step.command": []any{"d"}, "Step.args": []any{"b"}, "Step.outputs": []any{"p"},
	"Common.image": "j", "Common.shell": []any{"zsh"}, "Common.working_dir": "v", "Common.env": map[string]any{"E": "2"},
	"Common.secrets": map[string]any{"T": "s2/k"}, "Common.services": []any{map[string]any{"name": "new", "image": "i"}},
	"Common.placement_profiles": []any{"b"}, "Common.resources": map[string]any{"cpu": "2"}, "Common.k8s_overlay": map[string]any{"hostname": "i"},
	"Common.service_account": "sb", "Common.workspace": false, "Common.pool": "two", "Common.priority": 3,
	"Common.retry": map[string]any{"max": 3}, "Common.timeout": "30m", "Common.schedule_timeout": "30m", "Common.image_timeout": "30m",
	"Common.allow_failure": false,
	"Service.name":         "renamed", "Service.image": "j", "Service.command": []any{"d"}, "Service.args": []any{"b"}, "Service.env": map[string]any{"E": "2"},
	"Service.ready": "-", "Service.resources": map[string]any{"cpu": "2"},
	"Ready.tcp": 82, "Ready.http": map[string]any{"port": 83}, "Ready.exec": []any{"y"}, "HTTP.port": 84, "HTTP.path": "/y",
	"Retry.max": 4, "Retry.on": []any{"oom"}, "Retry.backoff": "6s",
}

// beside has keys that are about the run, not about the pod: what they say is in the plan alone. All others
// have to change the pod as well.
var beside = []string{"Pipeline.description", "Pipeline.timeout", "Pipeline.max_active_steps", "Workspace.size", "Workspace.storage_class",
	"Step.needs", "Step.if", "Step.outputs", "Common.pool", "Common.priority", "Common.retry", "Common.schedule_timeout", "Common.allow_failure",
	"Retry.max", "Retry.on", "Retry.backoff"}

// speaks has keys that are for people and findings, with what shows that they are not lost.
var speaks = map[string]string{
	"Pipeline.version":  "says whether the file can be read",
	"Param.description": "is in the error for a parameter that is missing",
	"Param.required":    "is why a run without the parameter is refused",
	"Param.pattern":     "is why a run with another value is refused",
}

// TestEveryFieldCounts ends the fault of fields that are accepted and then lost between parser, plan and
// pod: it gives each key, wherever it stands, another value, and wants another plan.
func TestEveryFieldCounts(t *testing.T) {
	before, podsBefore := hashOf(t, parsed(t))
	if before == "" {
		t.Fatal("the pipeline of this test is invalid")
	}
	seen := map[string]bool{}
	walk(reflect.TypeFor[pipeline.Pipeline](), nil, func(owner string, path []string) {
		name := owner + "." + path[len(path)-1]
		if speaks[name] != "" {
			return
		}
		value, ok := other[name]
		if !ok {
			t.Errorf("%s: give it another value in this test", name)
			return
		}
		for _, root := range places(path) {
			tree := parsed(t)
			if !change(tree, root, value) {
				continue
			}
			after, pods := hashOf(t, tree)
			if after == "" {
				continue // another step needs what was there
			}
			seen[name] = true
			if after == before {
				t.Errorf("%s is accepted and changes nothing", strings.Join(root, "."))
			}
			if pods == podsBefore && !slices.Contains(beside, name) {
				t.Errorf("%s is lost on its way into the pod", strings.Join(root, "."))
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if !seen[name] {
			t.Errorf("the pipeline of this test has no %s", name)
		}
	}
}

func parsed(t *testing.T) map[string]any {
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(everyKey), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// hashOf gives the hash of the plan, and its pods; both empty if there is none.
func hashOf(t *testing.T, tree map[string]any) (hash, pods string) {
	t.Helper()
	text, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if out := makeOf(t, everyKeyOperator, string(text), pipeline.Input{}); out.Plan != nil {
		for _, s := range out.Plan.Steps {
			pods += string(encode(s.Pod.Fragment))
		}
		return out.Plan.Hash(), pods
	} else if testing.Verbose() {
		t.Log(out.Findings.Text(nil))
	}
	return "", ""
}

// walk visits every key that the type takes, below every other, with the type that has it.
func walk(typ reflect.Type, path []string, visit func(owner string, path []string)) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		if typ.Kind() != reflect.Pointer {
			path = append(slices.Clone(path), "*")
		}
		typ = typ.Elem()
	}
	opaque := []reflect.Type{reflect.TypeFor[source.Node](), reflect.TypeFor[fragment.Resources](), reflect.TypeFor[pipeline.Matrix]()}
	if typ.Kind() != reflect.Struct || slices.Contains(opaque, typ) {
		return
	}
	for _, key := range source.Keys(typ) {
		owner := typ
		for _, i := range key.Index[:len(key.Index)-1] {
			owner = owner.Field(i).Type
		}
		below := append(slices.Clone(path), key.Key)
		visit(owner.Name(), below)
		walk(key.Type, below, visit)
	}
}

// places gives the paths that a path with * stands for.
func places(path []string) [][]string {
	i := slices.Index(path, "*")
	if i < 0 {
		return [][]string{path}
	}
	var all [][]string
	for _, at := range []string{"0", "1", "2", "v"} {
		p := slices.Clone(path)
		p[i] = at
		all = append(all, places(p)...)
	}
	return all
}

// change sets the value at a path, if something is there.
func change(v any, path []string, value any) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(path) > 1 {
			return change(v[path[0]], path[1:], value)
		}
		if _, ok := v[path[0]]; !ok {
			return false
		}
		if v[path[0]] = value; value == "-" {
			delete(v, path[0])
		}
		return true
	case []any:
		var i int
		if _, err := fmt.Sscan(path[0], &i); err != nil || i >= len(v) || len(path) < 2 {
			return false
		}
		return change(v[i], path[1:], value)
	}
	return false
}
