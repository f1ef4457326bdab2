package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// row is a pod, how far it is followed, and what must be true of it on either kind.
type row struct {
	name string
	pod  string
	// also is made before the pod: ConfigMaps and Secrets.
	also []string
	// until ends the row; nil waits until the pod has ended and is at rest.
	until func(*corev1.Pod) bool
	check func(t *testing.T, pod *corev1.Pod, log string)
	// log names the container whose log is read; none if empty.
	log string
	// differs are accepted in this row besides what is accepted in all.
	differs []difference
}

func exit(t *testing.T, pod *corev1.Pod, container string, code int32, reason string) *corev1.ContainerStateTerminated {
	t.Helper()
	for _, s := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if s.Name != container {
			continue
		}
		term := s.State.Terminated
		if term == nil {
			t.Fatalf("container %s has not ended\n%s", container, devplanetest.Describe(pod))
		}
		if term.ExitCode != code || term.Reason != reason {
			t.Errorf("container %s: exit code %d, reason %q; want %d, %q", container, term.ExitCode, term.Reason, code, reason)
		}
		return term
	}
	t.Fatalf("no status of container %s", container)
	return nil
}

func phase(t *testing.T, pod *corev1.Pod, want corev1.PodPhase) {
	t.Helper()
	if pod.Status.Phase != want {
		t.Errorf("phase %s; want %s\n%s", pod.Status.Phase, want, devplanetest.Describe(pod))
	}
}

func logHas(t *testing.T, log string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(log, w) {
			t.Errorf("log lacks %q:\n%s", w, log)
		}
	}
}

var rows = []row{
	{
		name: "success", log: "step",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "echo out; echo err >&2"]}`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			exit(t, pod, "step", 0, "Completed")
			logHas(t, log, "out\n", "err\n")
		},
	},
	{
		name: "exit-code",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "exit 7"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodFailed)
			exit(t, pod, "step", 7, "Error")
		},
	},
	{
		// The kubelet makes $ of $$ in a command.
		name: "killed-by-a-signal",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "sh -c 'kill -9 $$$$'; exit $?"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) { exit(t, pod, "step", 137, "Error") },
	},
	{
		name: "termination-message",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "echo digest=sha256:1 > /dev/termination-log"]}
  - {name: elsewhere, terminationMessagePath: /tmp/message, command: [sh, -c, "printf there > /tmp/message; exit 1"]}
  - {name: fallback, terminationMessagePolicy: FallbackToLogsOnError, command: [sh, -c, "echo the last words; exit 3"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			for name, want := range map[string]string{"step": "digest=sha256:1\n", "elsewhere": "there", "fallback": "the last words\n"} {
				for _, s := range pod.Status.ContainerStatuses {
					if s.Name == name && s.State.Terminated.Message != want {
						t.Errorf("message of %s: %q; want %q", name, s.State.Terminated.Message, want)
					}
				}
			}
		},
	},
	{
		name: "long-termination-message",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "head -c 5000 /dev/zero | tr '\\0' a > /dev/termination-log; printf END >> /dev/termination-log"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			m := pod.Status.ContainerStatuses[0].State.Terminated.Message
			if len(m) != 4096 || !strings.HasSuffix(m, "END") {
				t.Errorf("%d bytes, ending in %q: the kubelet keeps the last 4096", len(m), m[max(len(m)-5, 0):])
			}
		},
	},
	{
		name: "deadline",
		pod: `
spec:
  activeDeadlineSeconds: 2
  terminationGracePeriodSeconds: 1
  containers:
  - {name: step, command: [sh, -c, "sleep 1000"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodFailed)
			if pod.Status.Reason != "DeadlineExceeded" {
				t.Errorf("reason %q; want DeadlineExceeded", pod.Status.Reason)
			}
		},
	},
	{
		name: "deadline-trapped",
		pod: `
spec:
  activeDeadlineSeconds: 3
  terminationGracePeriodSeconds: 20
  containers:
  - {name: step, command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.1; done"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodFailed)
			exit(t, pod, "step", 0, "Completed")
		},
	},
	{
		name: "unpullable",
		pod: `
spec:
  containers:
  - {name: step, image: "devplane.invalid/unpullable:1", command: ["true"]}`,
		until: devplanetest.Waiting("ErrImagePull"),
		check: waits("ErrImagePull", "devplane.invalid/unpullable:1"),
	},
	{
		name: "back-off",
		pod: `
spec:
  containers:
  - {name: step, image: "devplane.invalid/unpullable:1", command: ["true"]}`,
		until: devplanetest.Waiting("ImagePullBackOff"),
		check: waits("ImagePullBackOff", `Back-off pulling image "devplane.invalid/unpullable:1"`),
	},
	{
		name: "invalid-image-name",
		pod: `
spec:
  containers:
  - {name: step, image: "bad::name", command: ["true"]}`,
		until: devplanetest.Waiting("InvalidImageName"),
		check: waits("InvalidImageName", "bad::name"),
	},
	{
		name: "missing-secret",
		pod: `
spec:
  containers:
  - name: step
    command: ["true"]
    env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: nowhere, key: token}}}]`,
		until: devplanetest.Waiting("CreateContainerConfigError"),
		check: waits("CreateContainerConfigError", `secret "nowhere" not found`),
	},
	{
		name: "root-refused",
		pod: `
spec:
  containers:
  - {name: step, command: ["true"], securityContext: {runAsNonRoot: true}}`,
		until: devplanetest.Waiting("CreateContainerConfigError"),
		check: waits("CreateContainerConfigError", "runAsNonRoot"),
	},
	{
		name: "no-such-command",
		pod: `
spec:
  containers:
  - {name: step, command: [no-such-command]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodFailed)
			end := exit(t, pod, "step", 128, "StartError")
			if !strings.Contains(end.Message, `exec: "no-such-command": executable file not found in $PATH`) {
				t.Errorf("message %q", end.Message)
			}
		},
	},
	{
		name: "init-failure",
		pod: `
spec:
  initContainers:
  - {name: first, command: [sh, -c, "exit 3"]}
  containers:
  - {name: step, command: ["true"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodFailed)
			exit(t, pod, "first", 3, "Error")
			if w := pod.Status.ContainerStatuses[0].State.Waiting; w == nil || w.Reason != "PodInitializing" {
				t.Errorf("step: %v; want waiting, PodInitializing", pod.Status.ContainerStatuses[0].State)
			}
		},
	},
	{
		name: "sidecar", log: "step",
		// The probe succeeds a second after the sidecar's start; until then the step must not run.
		pod: `
spec:
  terminationGracePeriodSeconds: 20
  initContainers:
  - name: db
    restartPolicy: Always
    command: [sh, -c, "trap 'exit 0' TERM; sleep 1; echo up > /shared/up; while :; do sleep 0.1; done"]
    startupProbe: {exec: {command: [test, -e, /shared/up]}, periodSeconds: 1, failureThreshold: 30}
    volumeMounts: [{name: shared, mountPath: /shared}]
  containers:
  - name: step
    command: [sh, -c, "cat /shared/up; sleep 1"]
    volumeMounts: [{name: shared, mountPath: /shared}]
  volumes: [{name: shared, emptyDir: {}}]`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "up\n")
			db, step := exit(t, pod, "db", 0, "Completed"), exit(t, pod, "step", 0, "Completed")
			if step.StartedAt.Before(&db.StartedAt) {
				t.Errorf("the step started at %s, before its sidecar at %s", step.StartedAt, db.StartedAt)
			}
			if db.FinishedAt.Before(&step.FinishedAt) {
				t.Errorf("the sidecar ended at %s, before the step at %s", db.FinishedAt, step.FinishedAt)
			}
		},
	},
	{
		name: "sidecar-killed",
		pod: `
spec:
  terminationGracePeriodSeconds: 1
  initContainers:
  - {name: db, restartPolicy: Always, command: [sh, -c, "trap '' TERM; while :; do sleep 0.1; done"]}
  containers:
  - {name: step, command: ["true"]}`,
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			phase(t, pod, corev1.PodSucceeded)
			exit(t, pod, "db", 137, "Error")
		},
	},
	{
		name: "shared-empty-dir", log: "reader",
		pod: `
spec:
  containers:
  - name: writer
    command: [sh, -c, "echo from the writer > /a/file"]
    volumeMounts: [{name: shared, mountPath: /a}]
  - name: reader
    command: [sh, -c, "while ! cat /b/file 2>/dev/null; do sleep 0.1; done"]
    volumeMounts: [{name: shared, mountPath: /b, readOnly: true}]
  volumes: [{name: shared, emptyDir: {}}]`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "from the writer")
		},
	},
	{
		name: "secrets-and-configmaps", log: "step",
		also: []string{`
kind: Secret
metadata: {name: token}
stringData: {token: s3cret, "other": o}`, `
kind: ConfigMap
metadata: {name: config}
data: {colour: green, shape: round}`},
		pod: `
spec:
  containers:
  - name: step
    command: [sh, -c, "echo $TOKEN $COLOUR $PRE_shape $NOWHERE.; cat /secret/renamed /config/colour; stat -L -c %a /secret/renamed"]
    env:
    - {name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: token}}}
    - {name: COLOUR, valueFrom: {configMapKeyRef: {name: config, key: colour}}}
    - {name: NOWHERE, valueFrom: {configMapKeyRef: {name: absent, key: colour, optional: true}}}
    envFrom: [{prefix: PRE_, configMapRef: {name: config}}]
    volumeMounts: [{name: s, mountPath: /secret}, {name: c, mountPath: /config}]
  volumes:
  - {name: s, secret: {secretName: token, defaultMode: 0400, items: [{key: token, path: renamed}]}}
  - {name: c, configMap: {name: config}}`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "s3cret green round .\n", "s3cretgreen", "400\n")
		},
	},
	{
		name: "downward-api", log: "step",
		pod: `
metadata: {labels: {team: shop}, annotations: {note: hello}}
spec:
  containers:
  - name: step
    command: [sh, -c, "echo $NAME $TEAM $LIMIT '$(NAME)' $DOUBLED; cat /info/note"]
    resources: {limits: {cpu: 250m}}
    env:
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: TEAM, valueFrom: {fieldRef: {fieldPath: "metadata.labels['team']"}}}
    - {name: LIMIT, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}
    - {name: DOUBLED, value: "$$(NAME)"}
    volumeMounts: [{name: info, mountPath: /info}]
  volumes:
  - name: info
    downwardAPI: {items: [{path: note, fieldRef: {fieldPath: "metadata.annotations['note']"}}]}`,
		// $(NAME) in a command is the kubelet's to expand, $$(NAME) is not.
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "pod shop 250 pod $(NAME)", "hello")
		},
	},
	{
		name: "service-account-token", log: "step",
		pod: `
spec:
  containers:
  - {name: step, command: [sh, -c, "cd /var/run/secrets/kubernetes.io/serviceaccount; head -c 2 token; head -n 1 ca.crt; cat namespace"]}`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "ey-----BEGIN CERTIFICATE-----", pod.Namespace)
		},
	},
	{
		name: "users-and-groups", log: "step",
		pod: `
spec:
  securityContext: {runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: step
    command: [sh, -c, "id -u; id -g; id -G; echo x > /shared/f && stat -c %g /shared/f; grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status; while [ ! -e /shared/done ]; do sleep 0.1; done; cat /shared/hook"]
    lifecycle: {postStart: {exec: {command: [sh, -c, "(id -u; id -G; grep -e NoNewPrivs -e CapEff /proc/self/status) > /shared/hook; touch /shared/done"]}}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: shared, mountPath: /shared}]
  volumes: [{name: shared, emptyDir: {}}]`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "1000\n2000\n2000 3000\n3000\n", "NoNewPrivs:\t1\n", "CapEff:\t0000000000000000\n")
			logHas(t, log, "1000\n2000 3000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n") // in the hook, too
		},
	},
	{
		name: "paths", log: "step",
		pod: `
spec:
  containers:
  - name: step
    workingDir: /work/here
    command: [sh, -c, "pwd; ls /sub; echo $$$$; hostname; echo x > /new-file; touch /ro/f 2>/dev/null || echo read-only"]
    volumeMounts:
    - {name: shared, mountPath: /sub, subPath: a/b}
    - {name: shared, mountPath: /work}
    - {name: shared, mountPath: /ro, readOnly: true}
  volumes: [{name: shared, emptyDir: {}}]`,
		check: func(t *testing.T, pod *corev1.Pod, log string) {
			phase(t, pod, corev1.PodSucceeded)
			logHas(t, log, "/work/here\n1\npod\nread-only\n") // PID 1, and the pod's name
		},
	},
	{
		name: "restarts",
		pod: `
spec:
  restartPolicy: OnFailure
  containers:
  - {name: step, command: [sh, -c, "exit 1"]}`,
		until: devplanetest.Waiting("CrashLoopBackOff"),
		differs: []difference{{path: "*.#.restartCount", maybe: true,
			reason: "a busy kubelet is late, and reports the back-off first after a second restart"}},
		check: func(t *testing.T, pod *corev1.Pod, _ string) {
			s := pod.Status.ContainerStatuses[0]
			if s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 1 {
				t.Errorf("last state %v", s.LastTerminationState)
			}
		},
	},
	{
		name: "readiness",
		pod: `
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: step
    command: [sh, -c, "sleep 1; touch /tmp/ready; sleep 1000"]
    readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1}`,
		until: func(p *corev1.Pod) bool {
			return devplanetest.Condition(p, corev1.PodReady).Status == corev1.ConditionTrue
		},
		check: func(t *testing.T, pod *corev1.Pod, _ string) { phase(t, pod, corev1.PodRunning) },
	},
}

// atRest is true of an ended pod of which nothing will change any more: its sandbox is stopped. A
// kubelet reports the end of the pod first.
func atRest(p *corev1.Pod) bool {
	return devplanetest.Ended(p) && devplanetest.Condition(p, corev1.PodReadyToStartContainers).Status == corev1.ConditionFalse
}

func waits(reason, message string) func(*testing.T, *corev1.Pod, string) {
	return func(t *testing.T, pod *corev1.Pod, _ string) {
		phase(t, pod, corev1.PodPending)
		w := pod.Status.ContainerStatuses[0].State.Waiting
		if w == nil || w.Reason != reason || !strings.Contains(w.Message, message) {
			t.Errorf("waiting %+v; want reason %s and a message with %q", w, reason, message)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	used := &uses{}
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				statuses := map[string]any{}
				t.Run("both", func(t *testing.T) {
					for _, kind := range devplanetest.Kinds() {
						statuses[kind] = r.run(t, kind)
					}
				})
				if t.Failed() || statuses[real] == nil {
					return
				}
				accepted := append(slices.Clone(differences), r.differs...)
				a, b := accept(statuses[real], accepted, used), accept(statuses[process], accepted, used)
				if diff := cmp.Diff(a, b); diff != "" {
					t.Errorf("a process node (+) says something else than a real node (-):\n%s", diff)
				}
			})
		}
	})
	if devplanetest.CanReal() {
		used.checkAll(t)
	}
}

// run runs the row's pod on a kind of node and returns its status as it was at the end.
func (r row) run(t *testing.T, kind string) any {
	ns := cluster.Namespace(t)
	for _, text := range r.also {
		make1(t, ns, text)
	}
	created := cluster.Create(t, ns, podOf(t, r.pod, kind))
	until := r.until
	if until == nil {
		until = atRest
	}
	pod := cluster.Pod(t, ns, created.Name, func(p *corev1.Pod) bool { return p != nil && until(p) })
	log := ""
	if r.log != "" {
		log = cluster.Logs(t, ns, pod.Name, corev1.PodLogOptions{Container: r.log})
	}
	t.Run(kind, func(t *testing.T) { r.check(t, pod, log) })
	return comparable1(t, pod)
}
