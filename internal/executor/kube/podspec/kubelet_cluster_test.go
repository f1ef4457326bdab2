package podspec

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/test/cluster"
)

// odd is text in which a kubelet finds something to expand, and TOKEN is there to be found.
var odd = []string{"$(TOKEN)", "$$(TOKEN)", "$$$(TOKEN)", "$$", "$", "$(", "$(TOKEN", "a$b", "$(NONE)", "$(BERTH_RUN)", "$$(BERTH_RUN)$",
	"${TOKEN}", "a\n$(TOKEN)\n", `"$(TOKEN)" '$$'`, "$)$(TOKEN)"}

// printer prints a text of its own, its arguments, and the variables ODD_0 and so on, each followed by "|".
var printer = `printf '%s|' '$(TOKEN)$$'
for a in "$@"; do printf '%s|' "$a"; done
i=0; while [ $i -lt ` + strconv.Itoa(len(odd)) + ` ]; do eval "printf '%s|' \"\$ODD_$i\""; i=$(($i + 1)); done
`

// The operator's env stands first, so that what follows could refer to it. It is the operator's to use what
// Kubernetes has; what an author writes means itself, wherever it comes from.
const expandingOperator = `
version: 1
baseline:
  k8s:
    containers:
      - {name: step, env: [{name: TOKEN, value: expanded}, {name: OPERATORS, value: "<$(TOKEN)>"}]}
environments: [{name: target, permits: {k8s_overlay: true}}]
`

// Text of an author's arrives in the container byte for byte: in a command, an argument, a script and an
// environment variable of a step, from a parameter, from an expression, from what another step has put out,
// and in a service and a container of k8s_overlay.
func TestKubeletExpandsNothing(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, kind string) {
		n := newNamespace(t, profile.BaselineStandard)
		operator := loaded(t, expandingOperator)
		made := planned(t, expanding(t, kind), operator, pipeline.Input{Params: parameters(odd)})
		for _, test := range []struct {
			step       string
			containers map[string][]string // with what they print
		}{
			{"command", map[string][]string{"step": slices.Concat([]string{"$(TOKEN)$$"}, odd, odd), "beside": slices.Concat([]string{"$(TOKEN)$$"}, odd, odd), "service": slices.Concat([]string{"$(TOKEN)$$"}, odd, odd)}},
			{"script", map[string][]string{"step": slices.Concat([]string{"$(TOKEN)$$"}, odd, []string{"<expanded>"})}},
			{"parameters", map[string][]string{"step": slices.Concat([]string{"$(TOKEN)$$"}, odd, odd)}},
			{"late", map[string][]string{"step": slices.Concat([]string{"$(TOKEN)$$"}, odd, odd)}},
		} {
			t.Run(test.step, func(t *testing.T) {
				t.Parallel()
				s := planStep(made, test.step)
				n.accept(t, attempt(t, s, n.facts(evaluated(s)...)), false)
				ended := n.end(t, s.ID)
				for name, want := range test.containers {
					log := n.log(t, ended.Name, name)
					if got := strings.Split(strings.TrimSuffix(log, "|"), "|"); !slices.Equal(got, want) {
						t.Errorf("in %s there arrived\n%q\nof\n%q", name, got, want)
					}
				}
				if ended.Status.Phase != corev1.PodSucceeded {
					t.Errorf("%s: %s %v", ended.Status.Phase, ended.Status.Message, ended.Status.ContainerStatuses)
				}
			})
		}
	})
}

// expanding is a pipeline that prints odd in all ways.
func expanding(t *testing.T, kind string) string {
	command := []any{"/bin/sh", "-e", "-c", printer, "sh"}
	env, params, late := object{}, object{}, object{}
	var declared, kubernetesEnv, args, paramArgs, lateArgs list
	kubernetesEnv = append(kubernetesEnv, object{"name": "TOKEN", "value": "expanded"})
	for i, text := range odd {
		n := strconv.Itoa(i)
		env["ODD_"+n], params["ODD_"+n], late["ODD_"+n] = text, "${{ params.odd_"+n+" }}", "${{ steps.first.outputs.odd_"+n+" }}"
		kubernetesEnv = append(kubernetesEnv, object{"name": "ODD_" + n, "value": text})
		declared, args = append(declared, "odd_"+n), append(args, text)
		paramArgs, lateArgs = append(paramArgs, "${{ params.odd_"+n+" }}"), append(lateArgs, "${{ steps.first.outputs.odd_"+n+" }}")
	}
	declaredParams := object{}
	for name := range parameters(odd) {
		declaredParams[name] = object{"required": true}
	}
	serviceEnv := object{"TOKEN": "expanded"}
	for name, text := range env {
		serviceEnv[name] = text
	}
	// It is ready once a probe has found that its own text arrived.
	stay := slices.Clone(command)
	stay[3] = stay[3].(string) + "exec sleep 3600"
	service := object{"name": "service", "image": "devplane/busybox:1", "env": serviceEnv, "command": stay, "args": args,
		"ready": object{"exec": list{"/bin/sh", "-c", `[ "$1" = '$(TO''KEN)$$' ] && [ "$1" = "$2$3" ]`, "sh", "$(TOKEN)$$", "$(TOKEN)", "$$"}}}
	p := object{"version": 1, "name": "escape", "environment": "target", "params": declaredParams,
		"defaults": object{"image": "devplane/busybox:1", "resources": object{"cpu": "50m", "memory": "16Mi"},
			"k8s_overlay": object{"nodeSelector": object{"devplane.berth.dev/kind": kind}, "tolerations": list{object{"operator": "Exists"}}, "terminationGracePeriodSeconds": 1}},
		"steps": list{
			object{"name": "first", "outputs": declared, "run": "true"},
			object{"name": "command", "command": command, "args": args, "env": env, "services": list{service},
				"k8s_overlay": object{"nodeSelector": object{"devplane.berth.dev/kind": kind}, "tolerations": list{object{"operator": "Exists"}}, "terminationGracePeriodSeconds": 1,
					"containers": list{object{"name": "beside", "image": "devplane/busybox:1", "command": command, "args": args, "env": kubernetesEnv}}}},
			object{"name": "script", "env": env, "run": printer + `printf '%s|' "$OPERATORS"`},
			object{"name": "parameters", "command": command, "args": paramArgs, "env": params},
			object{"name": "late", "needs": list{"first"}, "command": command, "args": lateArgs, "env": late},
		}}
	text, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func parameters(texts []string) map[string]string {
	all := map[string]string{}
	for i, text := range texts {
		all["odd_"+strconv.Itoa(i)] = text
	}
	return all
}

// evaluated is what the late texts of a step come to, if the other step has put out odd.
func evaluated(s *plan.Step) []string {
	var late []string
	for _, l := range Authored(s) {
		n := strings.TrimSuffix(strings.TrimPrefix(l.Text, "${{ steps.first.outputs.odd_"), " }}")
		i, _ := strconv.Atoi(n)
		late = append(late, odd[i])
	}
	return late
}

// A step starts after its services are ready, however they say that they are.
func TestStepStartsAfterServices(t *testing.T) {
	t.Parallel()
	onEachKind(t, func(t *testing.T, kind string) {
		n := newNamespace(t, profile.BaselineStandard)
		port, listener := listening(t, kind)
		made := planned(t, `
version: 1
name: order
environment: target
steps:
  - name: ordered
    image: devplane/busybox:1
    resources: {cpu: 50m, memory: 16Mi}
    env: {SHARED: /shared}
    services:
      - name: by-port
        image: devplane/busybox:1
        env: {SHARED: /shared, PORT: "`+port+`"}
        ready: {tcp: `+port+`}
        command: [/bin/sh, -c, 'sleep 1; : > "$SHARED/port"; `+listener+`']
      - name: by-command
        image: devplane/busybox:1
        env: {SHARED: /shared}
        ready: {exec: [/bin/sh, -c, 'test -e "$SHARED/command"']}
        command: [/bin/sh, -c, 'sleep 1; : > "$SHARED/command"; exec sleep 3600']
    # A service writes its file a good while after it starts. A step that does not wait finds none.
    run: |
      test -e "$SHARED/port"
      test -e "$SHARED/command"
    k8s_overlay:
      nodeSelector: {devplane.berth.dev/kind: `+kind+`}
      tolerations: [{operator: Exists}]
      terminationGracePeriodSeconds: 1
      volumes: [{name: shared, emptyDir: {}}]
      containers: [{name: step, volumeMounts: [{name: shared, mountPath: /shared}]}]
      initContainers:
        - {name: by-port, volumeMounts: [{name: shared, mountPath: /shared}]}
        - {name: by-command, volumeMounts: [{name: shared, mountPath: /shared}]}
`, loaded(t, "version: 1\nenvironments: [{name: target, permits: {k8s_overlay: true}}]"), pipeline.Input{})
		n.accept(t, attempt(t, &made.Steps[0], n.facts()), false)
		ended := n.end(t, made.Steps[0].ID)
		if ended.Status.Phase != corev1.PodSucceeded {
			t.Errorf("%s: the step started before its services were ready, or not at all: %s %v %v", ended.Status.Phase, ended.Status.Message, ended.Status.InitContainerStatuses, ended.Status.ContainerStatuses)
		}
	})
}

// listening gives a port, and a shell command that listens on it.
func listening(t *testing.T, kind string) (port, command string) {
	t.Helper()
	if kind == "real" {
		return "8080", "exec busybox httpd -f -p 8080" // the network is the pod's own
	}
	l, err := net.Listen("tcp", ":0") // the network is the machine's
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	if cluster.CanReal() {
		return port, "exec busybox httpd -f -p " + port
	}
	self, err := os.Executable() // a process node's container sees it, without a root of its own
	if err != nil {
		t.Fatal(err)
	}
	return port, "exec env " + listenKey + "=" + port + " '" + self + "'"
}

// onEachKind runs a test on a process node and, where there can be one, on a kubelet.
func onEachKind(t *testing.T, test func(t *testing.T, kind string)) {
	kinds := []string{"process"}
	if cluster.CanReal() {
		kinds = append(kinds, "real")
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

func planStep(p *plan.Plan, id string) *plan.Step {
	return &p.Steps[slices.IndexFunc(p.Steps, func(s plan.Step) bool { return s.ID == id })]
}

// end waits until the pod of a step has ended. It must not have begun before its services had started.
func (n namespace) end(t *testing.T, step string) *corev1.Pod {
	t.Helper()
	return n.wait(t, plan.LabelStep+"="+step, func(p *corev1.Pod) bool {
		if begun(p) && !started(p) {
			t.Errorf("the step has begun, and its services have not: %v", p.Status.InitContainerStatuses)
		}
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
}

func begun(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == "step" && s.State.Running != nil })
}

func started(p *corev1.Pod) bool {
	return !slices.ContainsFunc(p.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Started == nil || !*s.Started })
}

// wait waits until a pod is as wanted.
func (n namespace) wait(t *testing.T, label string, wanted func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx := cluster.Context(t)
	w, err := n.Client.CoreV1().Pods(n.name).Watch(ctx, metav1.ListOptions{LabelSelector: label})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last *corev1.Pod
	for e := range w.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("%T: %v", e.Object, e.Object)
		}
		if last = p; wanted(p) {
			return p
		}
	}
	if last == nil {
		t.Fatalf("there is no pod with %s", label)
	}
	t.Fatalf("pod %s is not as wanted: %s %s %v", last.Name, last.Status.Phase, last.Status.Message, last.Status.Conditions)
	return nil
}

func (n namespace) log(t *testing.T, pod, container string) string {
	t.Helper()
	log, err := n.Client.CoreV1().Pods(n.name).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(cluster.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}
