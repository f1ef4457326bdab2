// Command demo shows a devplane at work: it brings one up with tainted node pools, creates a pod
// that tolerates the taint and one that doesn't, and prints where each landed, or the scheduler's
// sentence why it did not, and the log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	nodes := flag.String("nodes", "../examples/acme/nodes.yaml", "node file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *nodes, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// limit is how long the pods may take until the demo gives up.
const limit = time.Minute

// run brings a devplane up, shows the pods, and takes it down.
func run(ctx context.Context, nodes string, out io.Writer) (err error) {
	binary, err := devplanetest.Binary()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "devplane-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	cmd := exec.Command(binary, "up", "--lifeline", "--dir", dir, "--nodes", nodes)
	cmd.Stderr = os.Stderr
	cluster, err := devplanetest.StartCommand(cmd, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	fmt.Fprintf(os.Stderr, "demo: cluster up in %.1fs\n\n", time.Since(began).Seconds())

	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the pods took more than %s", limit))
	defer cancel()
	return show(ctx, cluster, out)
}

// pods are what the demo creates.
func pods() []*corev1.Pod {
	pod := func(name string, tolerations ...corev1.Toleration) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Tolerations: tolerations,
				Containers: []corev1.Container{{Name: "step", Image: "devplane/busybox:1",
					Command: []string{"sh", "-c", "echo hello from $NODE"},
					Env: []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{
						FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}}},
			},
		}
	}
	batch := corev1.Toleration{Key: "workload-type", Operator: corev1.TolerationOpEqual, Value: "batch", Effect: corev1.TaintEffectNoSchedule}
	return []*corev1.Pod{pod("tolerating", batch), pod("plain")}
}

// show creates the pods, waits until each has ended or is known to fit nowhere, and prints them.
func show(ctx context.Context, c *devplanetest.Cluster, out io.Writer) error {
	const namespace = "default"
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "POD\tPHASE\tNODE\tWHY NOT, OR THE LOG")
	for _, pod := range pods() {
		if _, err := c.Client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
		pod, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "pods", namespace, pod.Name, func(p *corev1.Pod) bool {
			return devplanetest.Ended(p) || devplanetest.Condition(p, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
		})
		if err != nil {
			return err
		}
		node, words := "-", devplanetest.Condition(pod, corev1.PodScheduled).Message
		if devplanetest.Ended(pod) {
			log, err := c.Client.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
			if err != nil {
				return err
			}
			node, words = pod.Spec.NodeName, strings.TrimSpace(string(log))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", pod.Name, pod.Status.Phase, node, words)
	}
	return w.Flush()
}
