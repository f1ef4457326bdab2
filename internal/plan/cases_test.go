package plan

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
)

// situation is something that broke other tools. The operator file and the pipeline are complete but for
// their first lines; "step" is what one step, called s, says beside its name, image and script.
type situation struct {
	name     string
	operator string
	step     string
	params   map[string]string
	want     map[string]string // path: value of the pod, "-" for none
	refused  []string          // or else words of findings, all of which are there
	warned   []string          // words of findings of a plan that is made
}

const prod = "environments: [{name: prod, permits: {k8s_overlay: true}}]\n"

// workspaced in a situation's operator file says that the run has a workspace.
const workspaced = "# with a workspace\n"

// TestCases has the placement cases. The source of each is the public report that it names. Those that are
// about a cluster or about merging alone are in packages kubeclient, podspec, cli and placement; P13 (words of
// a LimitRange) is in kubeclient, P16 (a ReadWriteOnce volume) in podspec, P19 in govern.
func TestCases(t *testing.T) {
	cases := []situation{
		{name: "P01 the toleration of a tainted pool has to be repeated in each pipeline (woodpecker#5266)",
			operator: "baseline: {k8s: {nodeSelector: {pool: ci}, tolerations: [{key: ci, operator: Exists}]}}\n",
			want:     map[string]string{"nodeSelector.pool": "ci", "tolerations[ci:Exists::]": `{"key":"ci","operator":"Exists"}`}},
		{name: "P02 a template's selector vanishes where a run says anything of its own (tekton#3569)",
			operator: prod + "baseline: {k8s: {nodeSelector: {pool: ci}, securityContext: {fsGroup: 5}}}\n",
			step:     "k8s_overlay: {securityContext: {runAsUser: 1000}}",
			want:     map[string]string{"nodeSelector.pool": `"ci"`, "securityContext.fsGroup": "5", "securityContext.runAsUser": "1000"}},
		{name: "P03 a policy's toleration replaces those that are there (kyverno#7327, tekton#7127)",
			operator: "baseline: {k8s: {tolerations: [{key: CriticalAddonsOnly, operator: Exists}]}}\nplacement_profiles: [{name: spot, k8s: {tolerations: [{key: spot, operator: Exists}]}}]\n",
			step:     "placement_profiles: [spot]",
			want:     map[string]string{"tolerations[CriticalAddonsOnly:Exists::]": "{", "tolerations[spot:Exists::]": "{"}},
		{name: "P06 a default selector and a task's are united, and fit no node (flyte#3031)",
			operator: "baseline: {k8s: {nodeSelector: {os: linux}}}\nplacement_profiles: [{name: general, default: true, k8s: {nodeSelector: {node: algorithm, smt: disabled}}}, {name: large, k8s: {nodeSelector: {disk: large-ssd}}}]\n",
			step:     "placement_profiles: [large]",
			want:     map[string]string{"nodeSelector.disk": `"large-ssd"`, "nodeSelector.os": `"linux"`, "nodeSelector.node": "-", "nodeSelector.smt": "-"}},
		{name: "P07 an operator's node affinity is ORed with the user's, and weakens both (flyte#7548)",
			operator: prod + "baseline: {k8s: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [x]}]}]}}}}}\n",
			step:     "k8s_overlay: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: b, operator: Exists}]}]}}}}",
			want:     map[string]string{"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms": `[{"matchExpressions":[{"key":"a","operator":"In","values":["x"]},{"key":"b","operator":"Exists"}]}]`}},
		{name: "P08 the tenant's selector beats the operator's (dagster#33900)",
			operator: prod + "baseline: {k8s: {nodeSelector: {pool: ci}}, locked: [nodeSelector.pool]}\n",
			step:     "k8s_overlay: {nodeSelector: {pool: prod}}",
			refused:  []string{`k8s_overlay changes nodeSelector.pool from "ci" to "prod", and the operator's baseline locks it`}},
		{name: "P09 placement where it does nothing (argo#12568, dagster#23298)",
			step: "nodeSelector: {a: b}\n    tags: [x]", refused: []string{`unknown key "nodeSelector"`, `unknown key "tags"`}},
		{name: "P11 unquoted values (argo-events#271)",
			operator: prod, step: "k8s_overlay: {nodeSelector: {gpu: true, version: 1.20}}",
			refused: []string{`quote it: "true"`, `quote it: "1.20"`}},
		{name: "P12 helper containers get no resources, and a quota forbids the pod (argo#6809)",
			operator: "baseline: {resources: {cpu: 500m, memory: 512Mi}}\n", step: "services: [{name: db, image: i}]",
			want: map[string]string{"containers[step].resources.limits.memory": `"512Mi"`, "initContainers[db].resources.limits.memory": `"512Mi"`}},
		{name: "P14 thousandths of a byte (kubernetes#79950)",
			step: "resources: {memory: 300m}", refused: []string{"300M or 300Mi"}},
		{name: "P15 the platform of a matrix (woodpecker#2505)",
			operator: "placement_profiles: [{name: arm64, k8s: {nodeSelector: {kubernetes.io/arch: arm64}}}]\n",
			step:     "matrix: {arch: [arm64]}\n    placement_profiles: [\"${{ matrix.arch }}\"]",
			want:     map[string]string{`nodeSelector."kubernetes.io/arch"`: `"arm64"`}},
		{name: "P17 an empty value tolerates everything (GitLab Runner)",
			operator: prod, step: "k8s_overlay: {tolerations: [{operator: Exists}]}", warned: []string{"tolerates_everything"}},
		{name: "P18 every shape needs an installation of its own (buildkite agent-stack-k8s#854)",
			operator: "placement_profiles: [{name: a, k8s: {nodeSelector: {a: x}}}, {name: b, k8s: {tolerations: [{key: b, operator: Exists}]}}, {name: c, k8s: {priorityClassName: c}}]\n",
			step:     "placement_profiles: [a, b, c]",
			want:     map[string]string{"nodeSelector.a": `"x"`, "tolerations[b:Exists::]": "{", "priorityClassName": `"c"`}},
		{name: "P20 a default beats what was written (jenkins kubernetes-plugin#2881)",
			operator: "baseline: {k8s: {containers: [{name: step, env: [{name: A, value: default}]}]}}\n", step: "env: {A: mine}",
			want: map[string]string{"containers[step].env[A].value": `"mine"`}},
		{name: "P21 an expression that yields a number, where a string is wanted",
			operator: prod, step: "matrix: {n: [1]}\n    k8s_overlay: {nodeSelector: {n: \"${{ matrix.n }}\"}}",
			refused: []string{"nodeSelector.n is an integer (1), and must be a string"}},
		{name: "P22 containers: null deletes all containers",
			operator: prod, step: "k8s_overlay: {containers: null}", refused: []string{"containers"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.hold(t) })
	}
}

// TestEscapes has what authors may try to get more than they are given.
func TestEscapes(t *testing.T) {
	const permits = "environments: [{name: prod, permits: {k8s_overlay: [affinity, labels, annotations, containers]}}]\n"
	cases := []situation{
		{name: "a Secret in a volume", operator: prod, step: "k8s_overlay: {volumes: [{name: v, secret: {secretName: s}}]}", refused: []string{"Secret", "s"}},
		{name: "a Secret in env", operator: prod, step: "k8s_overlay: {containers: [{name: step, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}", refused: []string{"Secret"}},
		{name: "a Secret in envFrom", operator: prod, step: "k8s_overlay: {containers: [{name: step, envFrom: [{secretRef: {name: s}}]}]}", refused: []string{"Secret"}},
		{name: "a Secret of a csi driver", operator: prod, step: "k8s_overlay: {volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: s}}}]}", refused: []string{"Secret"}},
		{name: "a service account", operator: prod, step: "k8s_overlay: {serviceAccountName: admin}", refused: []string{"admin"}},
		{name: "a service account by its old name", operator: prod, step: "k8s_overlay: {serviceAccount: admin}", refused: []string{"write serviceAccountName"}},
		{name: "a token", operator: prod, step: "k8s_overlay: {automountServiceAccountToken: true}", refused: []string{"token"}},
		{name: "a projected token", operator: prod, step: "k8s_overlay: {volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t}}]}}]}", refused: []string{"token"}},
		{name: "a claim", operator: prod, step: "k8s_overlay: {volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}", refused: []string{"claim"}},
		{name: "an imagePullSecret", operator: prod, step: "k8s_overlay: {imagePullSecrets: [{name: s}]}", refused: []string{"Secret"}},
		{name: "a container that restarts", operator: prod, step: "k8s_overlay: {containers: [{name: step, restartPolicy: Always}]}", refused: []string{"restartPolicy"}},
		{name: "Berth's label removed with all others", operator: prod, step: "k8s_overlay: {labels: {$patch: replace, a: b}}",
			want: map[string]string{`labels."berth.dev/run"`: `"${{ run.id }}"`, "labels.a": `"b"`}},
		{name: "Berth's label set", operator: prod, step: "k8s_overlay: {labels: {berth.dev/run: mine}}", refused: []string{"labels and annotations below berth.dev/ are Berth's own"}},
		{name: "the step deleted", operator: prod, step: "k8s_overlay: {containers: [{name: step, $patch: delete}]}", refused: []string{"step"}},
		{name: "the step replaced", operator: prod, step: "k8s_overlay: {containers: [{$patch: replace}, {name: other, image: i}]}", refused: []string{"step"}},
		{name: "a system priority class", operator: permits, step: "k8s_overlay: {priorityClassName: system-node-critical}", refused: []string{"priorityClassName"}},
		{name: "a path in another case", operator: permits, step: "k8s_overlay: {Affinity: {nodeAffinity: {}}}", refused: []string{"did you mean affinity?"}},
		{name: "a path that only begins the same", operator: permits, step: "k8s_overlay: {affinity2: {}, containersX: []}", refused: []string{"affinity2", "containersX"}},
		{name: "what the kubelet would expand", step: "env: {A: \"$(TOKEN)\"}\n    secrets: {}", want: map[string]string{"containers[step].env[A].value": `"$$(TOKEN)"`}},
		{name: "what the kubelet would expand, in an overlay", operator: prod, step: "k8s_overlay: {containers: [{name: step, env: [{name: A, value: $(TOKEN)}]}]}",
			want: map[string]string{"containers[step].env[A].value": `"$$(TOKEN)"`}},
		{name: "what the kubelet would expand, by a parameter", step: "env: {A: \"${{ params.p }}\"}", params: map[string]string{"p": "$(TOKEN)"},
			want: map[string]string{"containers[step].env[A].value": `"$$(TOKEN)"`}},
		{name: "an expression in a parameter", step: "env: {A: \"${{ params.p }}\"}", params: map[string]string{"p": "${{ run.id }}"},
			want: map[string]string{"containers[step].env[A].value": `"$${{ run.id }}"`}},
		{name: "a reserved name by an expression", operator: prod, params: map[string]string{"p": "BERTH_RUN"},
			step: "k8s_overlay: {containers: [{name: step, env: [{name: \"${{ params.p }}\", value: x}]}]}", refused: []string{"BERTH_"}},
		{name: "a service in the place of an operator's container", operator: "baseline: {k8s: {initContainers: [{name: vault, image: v, restartPolicy: Always, env: [{name: ROOT, valueFrom: {secretKeyRef: {name: root, key: t}}}]}]}}\n",
			step: "services: [{name: vault, image: evil}]", refused: []string{"the service vault has the name of a container of baseline"}},
		{name: "a service in the place of a profile's container", operator: "placement_profiles: [{name: p, default: true, k8s: {containers: [{name: agent, image: a, securityContext: {privileged: true}}]}}]\nexecutor: {kubernetes: {pod_security: privileged}}\n",
			step: "services: [{name: agent, image: evil}]", refused: []string{"the service agent has the name of a container of profile:p"}},
		{name: "a lock of a field by its old name", operator: "baseline: {locked: [serviceAccountName]}\nenvironments: [{name: prod, permits: {k8s_overlay: true, service_accounts: [sa]}}]\n",
			step: "k8s_overlay: {serviceAccount: sa}", refused: []string{"write serviceAccountName"}},
		{name: "Berth's own term before another", operator: prod + workspaced,
			step: "k8s_overlay: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {berth.dev/workspace: \"${{ '${{ run.id }}' }}\"}}}, {topologyKey: zone, labelSelector: {}}]}}}",
			want: map[string]string{"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution": "["}},
		{name: "bytes that are no text", step: "env: {A: \"${{ params.p }}\"}", params: map[string]string{"p": "\xff"}, refused: []string{"bytes that are no text"}},
		{name: "a nodeName", operator: prod, step: "k8s_overlay: {nodeName: n}", refused: []string{"nodeName"}},
		{name: "a scheduling gate", operator: prod, step: "k8s_overlay: {schedulingGates: [{name: g}]}", refused: []string{"schedulingGates"}},
		{name: "the backstop", operator: prod, step: "k8s_overlay: {activeDeadlineSeconds: 5}", refused: []string{"activeDeadlineSeconds"}},
		{name: "the workspace's mount", operator: prod + workspaced, step: "k8s_overlay: {containers: [{name: step, volumeMounts: [{name: o, mountPath: /workspace, readOnly: true}]}], volumes: [{name: o, emptyDir: {}}]}",
			refused: []string{"volumeMounts[/workspace].name, which is the workspace's", "volumeMounts[/workspace].readOnly"}},
		{name: "the workspace's mount by another spelling", operator: prod + workspaced, step: "k8s_overlay: {containers: [{name: step, volumeMounts: [{name: o, mountPath: //workspace/.}]}], volumes: [{name: o, emptyDir: {}}]}",
			refused: []string{"which is the workspace's"}},
		{name: "the workspace's volume", operator: prod + workspaced, step: "k8s_overlay: {volumes: [{name: berth-workspace, emptyDir: {}}]}", refused: []string{"volumes[berth-workspace].emptyDir, which is the workspace's"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.hold(t) })
	}
}

func (c situation) hold(t *testing.T) {
	text := "version: 1\nname: p\nparams: {p: {}}\n"
	if strings.Contains(c.operator, workspaced) {
		text += "workspace: {size: 1Gi}\n"
	}
	if strings.Contains(c.operator, "name: prod") {
		text += "environment: prod\n"
	}
	text += "steps:\n  - name: s\n    image: i\n    run: x\n    " + c.step + "\n"
	out := makeOf(t, "version: 1\n"+c.operator, text, pipeline.Input{Params: c.params})
	findings := out.Findings.Text(nil) // without the source, which has the words as well
	for _, want := range append(c.refused, c.warned...) {
		if !strings.Contains(findings, want) {
			t.Errorf("nothing is said of %s:\n%s", want, findings)
		}
	}
	if len(c.refused) > 0 {
		if out.Plan != nil {
			t.Errorf("it is let through:\n%s", findings)
		}
		return
	}
	if out.Plan == nil {
		t.Fatalf("it is refused:\n%s", findings)
	}
	for _, l := range out.Plan.Steps[0].Pod.Late {
		if strings.Contains(l.Path.String(), "[-1]") {
			t.Errorf("there is no %s", l.Path)
		}
	}
	for path, want := range c.want {
		if got := valueAt(&out.Plan.Steps[0], path); got != want && !strings.HasPrefix(got, want) && got != `"`+want+`"` {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// valueAt is what an origin says is at a path, as JSON; "-" if nothing is.
func valueAt(s *Step, path string) string {
	for _, o := range s.Pod.Origins {
		if o.Path.String() == path && o.Value != nil {
			return compact(o.Value)
		}
	}
	return "-"
}
