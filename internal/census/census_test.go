package census

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSpec is that of a pod.
const podSpec = `      imagePullSecrets: [{name: HUSH}]
      serviceAccountName: HUSH
      initContainers: [{name: i, image: HUSH, env: [{name: HUSH, value: HUSH}], command: [HUSH], args: [HUSH], resources: {requests: {cpu: 1}}}]
      containers:
      - name: c
        image: HUSH
        env: [{name: A, value: HUSH}, {name: B, valueFrom: {secretKeyRef: {name: HUSH, key: HUSH}}}]
        envFrom: [{secretRef: {name: HUSH}}]
        command: [HUSH]
        args: [HUSH]
        workingDir: /HUSH
        lifecycle: {preStop: {exec: {command: [HUSH]}}}
        livenessProbe: {exec: {command: [HUSH]}}
        volumeMounts: [{name: v, mountPath: /HUSH}]
        ports: [{containerPort: 80, hostPort: 80}]
        resources: {requests: {cpu: 100m}}
      tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 300}, {key: sla, operator: Gt, value: "950"}]
      volumes:
      - {name: v, secret: {secretName: HUSH, items: [{key: HUSH, path: HUSH}]}}
      - {name: w, configMap: {name: HUSH}}
      - {name: x, projected: {sources: [{secret: {name: HUSH}}]}}
      - {name: y, csi: {driver: secrets-store.csi.k8s.io, volumeAttributes: {a: HUSH}, nodePublishSecretRef: {name: HUSH}}}
      - {name: z, emptyDir: {}}
`

// secretive has something that must not get out in every place that has something of the kind.
const secretive = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {note: HUSH}}
spec:
  template:
    metadata: {annotations: {note: HUSH, cluster-autoscaler.kubernetes.io/safe-to-evict: "false"}, labels: {app: web}}
    spec:
` + podSpec + `---
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  uid: u
  annotations: {note: HUSH, berth.dev/placement: '{"step":["containers[step].env[HUSH]","containers[step].env[HUSH].value","nodeSelector.tier"]}'}
  managedFields: [{manager: HUSH}]
spec:
` + podSpec + `status: {phase: Running, message: HUSH, hostIP: HUSH, containerStatuses: [{name: c, image: HUSH, imageID: HUSH}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: HUSH, namespace: shop}
data: {a: HUSH}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: h, volumeAttributes: {a: HUSH}, nodePublishSecretRef: {name: HUSH}}}
---
apiVersion: v1
kind: Node
metadata: {name: n, annotations: {note: HUSH}}
status: {allocatable: {cpu: "4"}, images: [{names: [HUSH]}], nodeInfo: {machineID: HUSH}, addresses: [{type: InternalIP, address: HUSH}]}
`

// A dump has nothing that should not leave, and everything that counts.
func TestDumpKeepsQuiet(t *testing.T) {
	c := New("default")
	if found := c.YAML("f", strings.NewReader(secretive)); found.Len() > 0 {
		t.Fatal(found.Text(nil))
	}
	var dump bytes.Buffer
	if err := c.Dump(&dump); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(dump.String(), "\n") {
		if i := strings.Index(line, "HUSH"); i >= 0 {
			t.Errorf("in the dump: %s", line[max(0, i-200):i+4])
		}
	}
	for _, want := range []string{`"safe-to-evict":"false"`, `"tolerationSeconds":300`, `"operator":"Gt"`, `"hostPort":80`, `nodeSelector.tier`, `"emptyDir"`, `"cpu":"100m"`} {
		if !strings.Contains(strings.ReplaceAll(dump.String(), "cluster-autoscaler.kubernetes.io/", ""), want) {
			t.Errorf("not in the dump: %s", want)
		}
	}
}

// A dump that is read gives the facts that were dumped.
func TestDumpAgain(t *testing.T) {
	c := New("default")
	c.YAML("f", strings.NewReader(secretive))
	c.Listed("poddisruptionbudgets")
	var first, second bytes.Buffer
	if err := c.Dump(&first); err != nil {
		t.Fatal(err)
	}
	d := New("default")
	err := Split(strings.NewReader(first.String()), func(item Item) error {
		o, err := Decode(item)
		if err != nil || o == nil {
			return fmt.Errorf("%s: %v", item.Kind, err)
		}
		d.Add(o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Dump(&second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("not the same:\n%s\n%s", first.String(), second.String())
	}
	if f := d.Facts(); f.Budgets == nil || f.Namespaces != nil {
		t.Errorf("budgets were read, namespaces not: %v, %v", f.Budgets == nil, f.Namespaces == nil)
	}
}

// Split finds the objects however they are wrapped, and says where the text breaks off.
func TestSplit(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\"}b","labels":{"items":"[","kind":"x"}},"spec":{"x":[1,{"y":"\\"}],"z":-1.5e3,"t":true,"n":null}}`
	for _, test := range []struct {
		text string
		want int
		err  string
	}{
		{pod, 1, ""},
		{pod + "\n" + pod, 2, ""},
		{`{"apiVersion":"v1","kind":"List","items":[` + pod + "," + pod + `],"metadata":{"resourceVersion":""}}`, 2, ""},
		{`{"kind":"List","items":[{"kind":"PodList","items":[` + pod + `]}]}`, 1, ""},
		{`{"items":[]}`, 0, ""},
		{" \n", 0, ""},
		{`{"items":[` + pod, 1, "unexpected EOF"},
		{pod[:60], 0, "unexpected EOF"},
		{`[1]`, 0, "where an object begins"},
		{`{"items":[1]}`, 0, "where an object of items begins"},
		{`{1:2}`, 0, "where a key begins"},
	} {
		n := 0
		err := Split(strings.NewReader(test.text), func(item Item) error {
			n++
			if item.Kind != "Pod" || item.APIVersion != "v1" || !json.Valid(item.Text) {
				t.Errorf("%s: %+v", test.text, item)
			}
			return nil
		})
		if n != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %d objects, %v", test.text, n, err)
		}
	}
}

// FuzzSplit: each object that is split off is the one that a JSON decoder finds.
func FuzzSplit(f *testing.F) {
	f.Add(`{"kind":"List","items":[{"kind":"Pod","spec":{"a":"\\\""}},{"kind":"Node"}]}`)
	f.Add(`{"kind":"Pod","items":{"a":[]}} {"kind":"Node"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var split []Item
		if Split(strings.NewReader(text), func(i Item) error { split = append(split, i); return nil }) != nil {
			return
		}
		var whole struct {
			Items []json.RawMessage `json:"items"`
		}
		d := json.NewDecoder(strings.NewReader(text))
		if !json.Valid([]byte(text)) || d.Decode(&whole) != nil || whole.Items == nil {
			return
		}
		if strings.Count(text, `"items"`) > 1 || strings.Contains(text, `\u`) { // lists in lists, keys twice
			return
		}
		if len(split) != len(whole.Items) {
			t.Fatalf("%d objects, want %d, of %s", len(split), len(whole.Items), text)
		}
		for i, item := range split {
			var a, b any
			if json.Unmarshal(item.Text, &a) != nil || json.Unmarshal(whole.Items[i], &b) != nil || !reflect.DeepEqual(a, b) {
				t.Fatalf("%s, want %s", item.Text, whole.Items[i])
			}
		}
	})
}

// Keys of another case are ignored by the API server, and said to be; those of a custom resource are not
// looked at.
func TestIgnoredKeys(t *testing.T) {
	c := New("default")
	found := c.YAML("f.yaml", strings.NewReader(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      nodeselector: {pool: big}
      topologySpreadConstraints:
      - {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, NodeAffinityPolicy: Honor}
      containers: [{name: c}]
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
Spec: {}
`))
	text := found.Text(nil)
	for _, want := range []string{
		"f.yaml:8:7: warning: the API server ignores the key spec.template.spec.nodeselector", "did you mean nodeSelector?",
		"f.yaml:10:75: warning: the API server ignores the key spec.template.spec.topologySpreadConstraints[0].NodeAffinityPolicy", "did you mean nodeAffinityPolicy?"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if found.Len() != 2 {
		t.Errorf("%d findings\n%s", found.Len(), text)
	}
	facts := c.Facts()
	if spec := facts.Owners[0].Template.Spec; spec.NodeSelector != nil || spec.TopologySpreadConstraints[0].NodeAffinityPolicy != nil {
		t.Errorf("an ignored key has an effect: %+v", spec)
	}
	if n := c.Notices(); len(n) != 1 || !strings.Contains(n[0], "Thing (1)") {
		t.Errorf("notices: %v", n)
	}
}

// What is broken is said with its position, and the rest is read nevertheless.
func TestBrokenYAML(t *testing.T) {
	c := New("default")
	found := c.YAML("f.yaml", strings.NewReader("kind: Pod\n---\n[]\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 7}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\n---\n"))
	text := found.Text(nil)
	for _, want := range []string{"f.yaml:1:1: error: an object of Kubernetes has apiVersion and kind", "f.yaml:3:1: error: an object of Kubernetes is a map", "f.yaml:5:1: error: Pod is none to Kubernetes"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if f := c.Facts(); len(f.Nodes) != 1 || f.Pods != nil {
		t.Errorf("%d nodes, pods %v", len(f.Nodes), f.Pods)
	}
}

// Each object counts once.
func TestTwice(t *testing.T) {
	c := New("default")
	for range 2 {
		c.Add(&corev1.Node{ObjectMeta: metaNamed("n")})
	}
	if len(c.Facts().Nodes) != 1 || len(c.Notices()) != 1 {
		t.Errorf("%d nodes, %v", len(c.Facts().Nodes), c.Notices())
	}
}

func metaNamed(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
