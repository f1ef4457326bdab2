package kubeclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/test/cluster"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const valid = `
apiVersion: v1
kind: Config
current-context: a
contexts:
- {name: a, context: {cluster: c, user: u, namespace: from-a}}
- {name: b, context: {cluster: c, user: u}}
- {name: broken, context: {cluster: nowhere, user: u}}
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: ` + secret + `}}]
`

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOptions(t *testing.T) {
	home := t.TempDir()
	for key, value := range map[string]string{"HOME": home, "KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": ""} {
		t.Setenv(key, value)
	}
	file := write(t, valid)
	for _, test := range []struct {
		name             string
		options          Options
		kubeconfig       string // KUBECONFIG
		context, as, err string
	}{
		{"a file", Options{Kubeconfig: file}, "", "a", "from-a", ""},
		{"another context", Options{Kubeconfig: file, Context: "b"}, "", "b", "default", ""},
		{"another namespace", Options{Kubeconfig: file, Namespace: "n"}, "", "a", "n", ""},
		{"KUBECONFIG, of which one is there", Options{}, filepath.Join(home, "none") + string(os.PathListSeparator) + file, "a", "from-a", ""},
		{"the flag comes first", Options{Kubeconfig: file}, write(t, strings.ReplaceAll(valid, "from-a", "other")), "a", "from-a", ""},

		{"a file that is not there", Options{Kubeconfig: "/none/a"}, file, "", "", "there is no kubeconfig at /none/a, which --kubeconfig names\nName one that exists with --kubeconfig FILE."},
		{"KUBECONFIG that is not there", Options{}, "/none/a:/none/b", "", "", "there is no kubeconfig at /none/a or /none/b, which KUBECONFIG names\nName one that exists with --kubeconfig FILE."},
		{"none at all", Options{}, "", "", "", "there is no kubeconfig that names a cluster\nName one with --kubeconfig FILE or KUBECONFIG."},
		{"an unknown context", Options{Kubeconfig: file, Context: "x"}, "", "", "", "the kubeconfig has no context \"x\"\nChoose one with --context, of those that \"kubectl config get-contexts\" lists."},
		{"no current context", Options{Kubeconfig: write(t, strings.Replace(valid, "current-context: a", "", 1))}, "", "", "",
			"the kubeconfig has no current context\nChoose one with --context, of those that \"kubectl config get-contexts\" lists."},
		{"a context of a cluster that is not there", Options{Kubeconfig: file, Context: "broken"}, "", "", "", "the kubeconfig's context \"broken\" is of a cluster \"nowhere\", which it does not have\nChoose another with --context, of those that \"kubectl config get-contexts\" lists."},
		{"no certificate", Options{Kubeconfig: write(t, strings.Replace(valid, "token: "+secret, "client-certificate: /none/crt, client-key-data: eA==", 1))}, "", "", "",
			"kubeconfig: invalid configuration: unable to read client-cert /none/crt for u due to open /none/crt: no such file or directory\nType \"kubectl config view\" to see what it has."},
		{"a folder", Options{Kubeconfig: home}, "", "", "", "the kubeconfig " + home + " can't be read: is a directory\nCorrect the file."},
		{"not YAML", Options{Kubeconfig: "testdata/broken.yaml"}, "", "", "", "the kubeconfig testdata/broken.yaml can't be read: line 3\nCorrect the file."},
		{"another type", Options{Kubeconfig: "testdata/type.yaml"}, "", "", "", "the kubeconfig testdata/type.yaml can't be read: field AuthInfo.users.user.token of type string\nCorrect the file."},
		{"no URL", Options{Kubeconfig: write(t, strings.Replace(valid, "https://127", "https://user:"+secret+" @127", 1))}, "", "", "", "the server of the kubeconfig's cluster is no URL\nWrite server: https://HOST:PORT."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.kubeconfig)
			k, err := New(test.options)
			if test.err != "" {
				wantError(t, err, test.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if k.context != test.context || k.Namespace() != test.as {
				t.Errorf("context %s, namespace %s", k.context, k.Namespace())
			}
		})
	}
}

// The text of a kubeconfig that can't be read is not in the error: it has credentials.
func TestUnreadableKubeconfigsAreNotShown(t *testing.T) {
	for _, user := range []string{
		"{token: !!int " + secret + "}", "{token: *" + secret + "}", "{token: " + secret, "{client-key-data: " + secret + "!}",
		"{token: [" + secret + "]}", secret, "\n\ttoken: " + secret, "{<<: " + secret + "}", "{? [" + secret + "] : x}",
	} {
		file := write(t, strings.Replace(valid, "{token: "+secret+"}", user, 1))
		_, err := New(Options{Kubeconfig: file})
		var e *Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), file+" can't be read") {
			t.Errorf("%s: %v", user, err)
		}
	}
}

func TestManners(t *testing.T) {
	t.Parallel()
	k, err := New(Options{Kubeconfig: write(t, valid), Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if c := k.config; c.UserAgent != "berth/v1.2.3" || c.QPS != qps || c.Burst != burst {
		t.Errorf("user agent %s, %v requests per second, burst %d", c.UserAgent, c.QPS, c.Burst)
	}
}

// inPodKey makes this test binary say where it is and how far it gets.
const inPodKey = "BERTH_TEST_IN_POD"

func inPod() int {
	k, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, err = k.Nodes(context.Background())
	fmt.Println(k.Namespace(), err)
	return 0
}

// In a pod, without a kubeconfig, the cluster is the one that the pod is in, and the namespace is its own.
func TestOptionsInAPod(t *testing.T) {
	t.Parallel()
	if !cluster.CanReal() {
		t.Skip("mounting a ServiceAccount's token needs root on Linux")
	}
	c, k := client(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pods, ctx := c.Client.CoreV1().Pods(k.Namespace()), cluster.Context(t)
	_, err = pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, NodeSelector: map[string]string{"devplane.berth.dev/kind": "process"},
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Volumes:     []corev1.Volume{{Name: "test", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: filepath.Dir(self)}}}},
		Containers: []corev1.Container{{Name: "c", Image: "test", Command: []string{"/test/" + filepath.Base(self)},
			VolumeMounts: []corev1.VolumeMount{{Name: "test", MountPath: "/test"}},
			Env:          []corev1.EnvVar{{Name: inPodKey, Value: "1"}, {Name: "HOME", Value: "/none"}}}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=p"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed) {
			break
		}
	}
	log, err := pods.GetLogs("p", &corev1.PodLogOptions{}).Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	line, _ := bufio.NewReader(log).ReadString('\n')
	want := fmt.Sprintf("%s the cluster at %s: nodes is forbidden: User \"system:serviceaccount:%[1]s:default\" cannot list resource",
		k.Namespace(), strings.TrimPrefix(c.Config.Host, "https://"))
	if !strings.HasPrefix(line, want) {
		t.Errorf("got %q, want %q", line, want)
	}
}
