package podspec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/placement"
)

func TestDropped(t *testing.T) {
	for _, test := range []struct {
		name, sent, answer string
		want               []string
	}{
		{"what the server adds is no difference",
			`spec: {containers: [{name: step, image: x}], tolerations: [{key: a, operator: Exists}]}`,
			`
metadata: {uid: 1, creationTimestamp: now}
spec:
  containers: [{name: injected}, {name: step, image: x, imagePullPolicy: Always, resources: {}}]
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: a, operator: Exists}]
  restartPolicy: Always
status: {phase: Pending}`, nil},
		{"a field is dropped, and so is one that has it alone",
			`spec: {hostUsers: false, containers: [{name: step, lifecycle: {stopSignal: SIGINT}}, {name: b, lifecycle: {stopSignal: SIGINT, preStop: {sleep: {seconds: 1}}}}]}`,
			`spec: {containers: [{name: step}, {name: b, lifecycle: {preStop: {sleep: {seconds: 1}}}}]}`,
			[]string{`spec.containers[step].lifecycle: sent {"stopSignal":"SIGINT"}, and it is not stored`,
				`spec.containers[b].lifecycle.stopSignal: sent "SIGINT", and it is not stored`,
				`spec.hostUsers: sent false, and it is not stored`}},
		{"a field that is newer than Berth",
			`spec: {newField: {}, newFlag: false, containers: [{name: step, newList: [{x: 1}]}]}`, `spec: {containers: [{name: step}]}`,
			[]string{`spec.containers[step].newList: sent [{"x":1}], and it is not stored`, `spec.newField: sent {}, and it is not stored`, `spec.newFlag: sent false, and it is not stored`}},
		{"nothing need be stored of what says nothing",
			`{metadata: {labels: {}, generateName: ""}, spec: {nodeSelector: {}, hostNetwork: false, priorityClassName: "", tolerations: [], containers: [{name: step, stdin: false, resources: {limits: {}}, env: [{name: A, value: ""}], args: null}]}, status: {}}`,
			`spec: {containers: [{name: step, env: [{name: A}]}]}`, nil},
		{"an empty object that says something",
			`spec: {volumes: [{name: v, emptyDir: {}}], securityContext: {}}`, `spec: {volumes: [{name: v}]}`,
			[]string{`spec.securityContext: sent {}, and it is not stored`, `spec.volumes[v].emptyDir: sent {}, and it is not stored`}},
		{"quantities are compared by what they are worth, and only they",
			`{metadata: {labels: {cpu: 1000m}}, spec: {containers: [{name: step, resources: {requests: {cpu: 1000m, memory: 1024Mi, example.com/x: 2}, limits: {cpu: 1.5, memory: 1Gi}}}], volumes: [{name: v, emptyDir: {sizeLimit: 1024Ki}}]}}`,
			`{metadata: {labels: {cpu: "1"}}, spec: {containers: [{name: step, resources: {requests: {cpu: "1", memory: 1Gi, example.com/x: "2"}, limits: {cpu: 1500m, memory: 1G}}}], volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]}}`,
			[]string{`metadata.labels.cpu: sent "1000m", stored "1"`, `spec.containers[step].resources.limits.memory: sent "1Gi", stored "1G"`}},
		{"a quantity of zero is one", `spec: {overhead: {cpu: 0}}`, `spec: {overhead: {memory: 1}}`, []string{`spec.overhead.cpu: sent 0, and it is not stored`}},
		{"items are found by their keys",
			`spec: {tolerations: [{key: a, operator: Equal, value: x, tolerationSeconds: 5}, {key: b}], containers: [{name: step, ports: [{containerPort: 80, name: web}], volumeMounts: [{mountPath: /w, name: w, readOnly: true}]}]}`,
			`spec: {tolerations: [{key: b}, {key: a, value: x, tolerationSeconds: 6}], containers: [{name: step, ports: [{containerPort: 53, protocol: UDP}, {containerPort: 80, protocol: TCP, name: web}], volumeMounts: [{mountPath: /var/run/token, name: t}, {mountPath: /w, name: w}]}]}`,
			[]string{`spec.containers[step].volumeMounts[/w].readOnly: sent true, and it is not stored`,
				`spec.tolerations[a:Equal:x:].operator: sent "Equal", and it is not stored`,
				`spec.tolerations[a:Equal:x:].tolerationSeconds: sent 5, stored 6`}},
		{"of two with one key the first is held against the first",
			`spec: {containers: [{name: step, env: [{name: A, value: x}, {name: A, value: y}]}]}`, `spec: {containers: [{name: step, env: [{name: A, value: x}]}]}`,
			[]string{`spec.containers[step].env[A]: sent {"name":"A","value":"y"}, and it is not stored`}},
		{"lists without keys by their index",
			`spec: {containers: [{name: step, command: [sh, -c, x]}]}`, `spec: {containers: [{name: step, command: [sh, -e]}]}`,
			[]string{`spec.containers[step].command[1]: sent "-c", stored "-e"`, `spec.containers[step].command[2]: sent "x", and it is not stored`}},
		{"another shape", `spec: {containers: [{name: step, livenessProbe: {httpGet: {port: "80"}}}], nodeSelector: {a: b}}`, `spec: {containers: [{name: step, livenessProbe: {httpGet: {port: 80}}}], nodeSelector: []}`,
			[]string{`spec.containers[step].livenessProbe.httpGet.port: sent "80", stored 80`, `spec.nodeSelector: sent {"a":"b"}, stored []`}},
		{"nothing came back", `spec: {nodeSelector: {a: b}}`, `{}`, []string{`spec: sent {"nodeSelector":{"a":"b"}}, and it is not stored`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range Dropped(read(t, test.sent), read(t, test.answer)) {
				got = append(got, d.String())
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

const rich = `
metadata: {name: p, labels: {a: b}, annotations: {x: "1"}, finalizers: [f]}
spec:
  containers:
  - name: step
    image: x
    command: [sh, -c, "true"]
    env: [{name: A, value: b}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k, optional: false}}}]
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 1}, limits: {cpu: "2"}}
    securityContext: {runAsUser: 0, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: w, mountPath: /w}]
  initContainers: [{name: i, restartPolicy: Always, startupProbe: {tcpSocket: {port: 5432}}}]
  volumes: [{name: w, persistentVolumeClaim: {claimName: c}}, {name: e, emptyDir: {}}]
  tolerations: [{key: a, operator: Equal, value: b, effect: NoSchedule}, {operator: Exists}]
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b, c]}]}]}}}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
  nodeSelector: {a: b}
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
`

// Whatever is taken out of the answer is reported, and so is whatever is changed; what is added is not.
func TestDroppedFindsAll(t *testing.T) {
	if d := Dropped(read(t, rich), read(t, rich)); len(d) > 0 {
		t.Errorf("a pod differs from itself: %v", d)
	}
	leaves := 0
	each(read(t, rich), nil, func(path []any) {
		leaves++
		for what, change := range map[string]any{"taken out": nil, "changed": "some other value"} {
			answer := read(t, rich)
			set(answer, path, change)
			d := Dropped(read(t, rich), answer)
			if len(d) != 1 {
				t.Errorf("%v was %s: %v", path, what, d)
			}
			if d := Dropped(answer, read(t, rich)); what == "taken out" && len(d) != 0 && isField(path) && !isKey(path) {
				t.Errorf("%v was added: %v", path, d)
			}
		}
	})
	if leaves < 40 {
		t.Errorf("only %d leaves", leaves)
	}
}

// A change of a field that identifies its item makes another item of it.
func isKey(path []any) bool {
	last := path[len(path)-1]
	return slices.Contains([]any{"name", "mountPath", "containerPort", "key", "operator", "value", "effect", "topologyKey", "whenUnsatisfiable"}, last)
}

func isField(path []any) bool { _, ok := path[len(path)-1].(string); return ok }

// each calls do with the path of each leaf.
func each(v any, path []any, do func([]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			each(v[k], append(slices.Clone(path), k), do)
		}
	case []any:
		for i, e := range v {
			each(e, append(slices.Clone(path), i), do)
		}
	default:
		do(path)
	}
}

func set(v any, path []any, to any) {
	for ; len(path) > 1; path = path[1:] {
		v = step(v, path[0])
	}
	switch v := v.(type) {
	case map[string]any:
		if v[path[0].(string)] = to; to == nil {
			delete(v, path[0].(string))
		}
	case []any:
		v[path[0].(int)] = to
	}
}

func step(v, key any) any {
	if m, ok := v.(map[string]any); ok {
		return m[key.(string)]
	}
	return v.([]any)[key.(int)]
}

func TestDroppedWritesToNothing(t *testing.T) {
	sent, answer := read(t, rich), read(t, rich)
	Dropped(sent, answer)
	if !reflect.DeepEqual(sent, read(t, rich)) || !reflect.DeepEqual(answer, sent) {
		t.Error("an argument was written to")
	}
}

// What Dropped reports can be looked up among origins.
func TestDroppedPathsAreThoseOfPlacement(t *testing.T) {
	d := Dropped(read(t, `spec: {containers: [{name: step, env: [{name: A, value: x}]}]}`), read(t, `spec: {containers: [{name: step}]}`))
	if want := placement.MustPath("containers[step].env"); len(d) != 1 || !slices.Equal(d[0].Path[1:], want) {
		t.Errorf("%v, want %v", d, want)
	}
}

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
