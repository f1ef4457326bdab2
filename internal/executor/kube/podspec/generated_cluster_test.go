package podspec

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/test/cluster"
)

const generatedPlans = 200

// exist makes what pods refer to that belongs to no namespace, under names of the test's own.
func exist(t *testing.T, c *cluster.Cluster, name string) existing {
	t.Helper()
	ctx := cluster.Context(t)
	e := existing{account: "deployer", class: name + "-low", otherClass: name + "-high", runtime: name}
	for i, class := range []string{e.class, e.otherClass} {
		made := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Value: int32(100 * i)}
		if _, err := c.Client.SchedulingV1().PriorityClasses().Create(ctx, made, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Client.SchedulingV1().PriorityClasses().Delete(cluster.Context(t), class, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	for _, class := range []string{e.class, e.otherClass} {
		cluster.Eventually(t, "admission knows of the priority class "+class, func() bool {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{PriorityClassName: class, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			_, err := c.Client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err == nil || !strings.Contains(err.Error(), "no PriorityClass")
		})
	}
	runtime := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: e.runtime}, Handler: "runc"}
	if _, err := c.Client.NodeV1().RuntimeClasses().Create(ctx, runtime, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Client.NodeV1().RuntimeClasses().Delete(cluster.Context(t), e.runtime, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Whatever comes to a plan is a pod that the API server takes under strict validation, in a namespace with
// the plan's pod security standard, and of which it drops nothing.
func TestGeneratedPlans(t *testing.T) {
	t.Parallel()
	namespaces := map[profile.PodSecurity]namespace{}
	for _, security := range profile.BaselineStandard.Values() {
		namespaces[profile.PodSecurity(security)] = newNamespace(t, profile.PodSecurity(security), "deployer")
	}
	files := exist(t, shared.Get(t), namespaces[profile.BaselineStandard].name).files()
	seen := features{}
	pods := map[string]bool{}
	var once sync.Once
	fail := func(seed int, g generated, what any) {
		t.Errorf("seed %d, %s: %v", seed, g.security, what)
		once.Do(func() { t.Logf("the files of seed %d\n%s---\n%s", seed, g.operator, g.pipeline) })
	}
	checks := make(chan func())
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for check := range checks {
				check()
			}
		})
	}
	for seed := range generatedPlans {
		g := files.Example(seed)
		n := namespaces[g.security]
		made, err := g.plan()
		if err != nil {
			fail(seed, g, err)
			continue
		}
		for i := range made.Steps {
			pod := g.pod(t, &made.Steps[i], n)
			data, _ := json.Marshal(pod["spec"])
			if pods[string(data)] {
				continue
			}
			pods[string(data)] = true
			seen.object("", pod["spec"].(map[string]any))
			checks <- func() {
				stored, _, err := n.create(t, pod, true)
				if err != nil {
					fail(seed, g, err)
					return
				}
				for _, d := range Dropped(pod, stored) {
					fail(seed, g, d)
				}
			}
		}
	}
	close(checks)
	workers.Wait()
	t.Logf("%d pods of %d plans, with %d fields", len(pods), generatedPlans, len(seen))
	seen.expect(t)
}

// plan is the plan, or an error with what stands against it.
func (g generated) plan() (*plan.Plan, error) {
	operator, findings := profile.Load("operator.yaml", []byte(g.operator))
	if operator == nil {
		return nil, errors.New(findings.Text(nil))
	}
	file, findings := pipeline.Parse("pipeline.yaml", []byte(g.pipeline), pipeline.Options{Privileged: operator.PodSecurity == profile.Privileged})
	if file == nil {
		return nil, errors.New(findings.Text(nil))
	}
	out := plan.Make(file, operator, pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		return nil, errors.New(out.Findings.Text(nil))
	}
	return out.Plan, nil
}

func (g generated) pod(t *testing.T, s *plan.Step, n namespace) map[string]any {
	var late []string
	for _, l := range Authored(s) {
		late = append(late, strings.ReplaceAll(l.Text, "${{", "$(TOKEN)"))
	}
	return attempt(t, s, n.facts(late...))
}

// features counts the fields that pods have.
type features map[string]int

func (f features) object(path string, o map[string]any) {
	for name, v := range o {
		f.value(strings.TrimPrefix(path+"."+name, "."), v)
	}
}

func (f features) value(path string, v any) {
	f[path]++
	switch v := v.(type) {
	case map[string]any:
		f.object(path, v)
	case []any:
		for _, e := range v {
			if o, ok := e.(map[string]any); ok {
				f.object(path, o)
			}
		}
	}
}

// expect fails the test if what it is about is not in the pods at all.
func (f features) expect(t *testing.T) {
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	wanted := []string{"tolerations.tolerationSeconds", "nodeSelector", "priorityClassName", "runtimeClassName", "topologySpreadConstraints.minDomains",
		"affinity.nodeAffinity." + required, "affinity.nodeAffinity." + preferred, "affinity.podAffinity." + required,
		"affinity.podAffinity." + preferred, "affinity.podAntiAffinity." + required, "serviceAccountName", "resourceClaims", "schedulerName",
		"initContainers.startupProbe.tcpSocket", "initContainers.startupProbe.httpGet", "initContainers.startupProbe.exec", "initContainers.resources.limits",
		"containers.env.valueFrom.secretKeyRef", "containers.resources.limits.example.com/device", "containers.resources.requests.ephemeral-storage",
		"containers.securityContext.privileged", "containers.args", "containers.lifecycle.preStop.exec", "volumes.persistentVolumeClaim", "volumes.hostPath"}
	for _, name := range wanted {
		if f[name] == 0 {
			t.Errorf("no pod has %s", name)
		}
	}
}
