package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v4"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/observer/settings"
	"github.com/berthdev/berth/internal/transcript"
	"github.com/berthdev/berth/test/cluster"
)

// values are what charts are tried with: each is a file of values, merged over the chart's own at the top.
var values = map[string]string{
	"default": ``,
	"everything": `
config: {namespaces: {deny: [kube-*]}, node_labels: [example.com/rack], interval: {min: 30s}}
push: {url: "https://receiver.example/in", tokenSecret: receiver, tokenKey: key}
spool: {existingClaim: payloads}
metrics: {port: 9187, service: true, workloads: 10}
imagePullSecrets: [{name: registry}]
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: workload-type, operator: Exists}]
priorityClassName: system-cluster-critical
podAnnotations: {example.com/owner: platform}
serviceAccountName: observer
`,
	"namespaces": `
namespaces: [default, kube-public]
nodes: true
`,
}

// render renders the chart as Helm does: in Go's template language, with the few functions that this chart uses. The
// files in testdata/chart were compared with what `helm template watch charts/berth-observer -n observe -f VALUES`
// (Helm 4) makes of the same values, object by object, and are what this has to come to.
func render(t *testing.T, name string) []map[string]any {
	t.Helper()
	merged := map[string]any{}
	for _, text := range []string{readFileText(t, chart+"values.yaml"), values[name]} {
		var v map[string]any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		merge(merged, v)
	}
	var meta struct {
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal([]byte(readFileText(t, chart+"Chart.yaml")), &meta); err != nil {
		t.Fatal(err)
	}
	all := template.New("chart").Option("missingkey=error")
	all.Funcs(functions(all))
	files, err := filepath.Glob(chart + "templates/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, err := all.New(filepath.Base(f)).Parse(readFileText(t, f)); err != nil {
			t.Fatal(err)
		}
	}
	data := map[string]any{"Values": merged, "Chart": map[string]any{"AppVersion": meta.AppVersion}, "Files": chartFiles{t},
		"Release": map[string]any{"Name": "watch", "Namespace": "observe", "Service": "Helm"}}
	var objects []map[string]any
	for _, f := range files {
		if !strings.HasSuffix(f, ".yaml") {
			continue
		}
		var b bytes.Buffer
		if err := all.ExecuteTemplate(&b, filepath.Base(f), data); err != nil {
			t.Fatal(err)
		}
		for _, doc := range strings.Split(b.String(), "\n---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				t.Fatalf("%s: %v\n%s", f, err, doc)
			}
			if o != nil {
				objects = append(objects, o)
			}
		}
	}
	slices.SortFunc(objects, func(a, b map[string]any) int { return strings.Compare(identity(a), identity(b)) })
	return objects
}

func identity(o map[string]any) string {
	u := unstructured.Unstructured{Object: o}
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}

func readFileText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func merge(into, from map[string]any) {
	for k, v := range from {
		below, ok := into[k].(map[string]any)
		if more, also := v.(map[string]any); ok && also {
			merge(below, more)
			continue
		}
		into[k] = v
	}
}

type chartFiles struct{ t *testing.T }

func (f chartFiles) Get(name string) string { return readFileText(f.t, chart+name) }

func functions(all *template.Template) template.FuncMap {
	indent := func(n int, s string) string {
		pad := strings.Repeat(" ", n)
		return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
	}
	empty := func(v any) bool {
		switch v := v.(type) {
		case nil:
			return true
		case string:
			return v == ""
		case bool:
			return !v
		case []any:
			return len(v) == 0
		case map[string]any:
			return len(v) == 0
		}
		return false
	}
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := all.ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			data, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(data), "\n"), err
		},
		"toJson": func(v any) (string, error) {
			data, err := json.Marshal(v)
			return string(data), err
		},
		"list":       func(all ...any) []any { return all },
		"sha256sum":  func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
		"quote":      func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"indent":     indent,
		"nindent":    func(n int, s string) string { return "\n" + indent(n, s) },
		"trunc":      func(n int, s string) string { return s[:min(n, len(s))] },
		"trimSuffix": func(suffix, s string) string { return strings.TrimSuffix(s, suffix) },
		"empty":      empty,
		"default": func(otherwise, v any) any {
			if empty(v) {
				return otherwise
			}
			return v
		},
		"ternary": func(yes, no any, v bool) any {
			if v {
				return yes
			}
			return no
		},
		"omit": func(m map[string]any, keys ...string) map[string]any {
			c := maps.Clone(m)
			for _, k := range keys {
				delete(c, k)
			}
			return c
		},
	}
}

// The chart comes to what Helm makes of it.
func TestChart(t *testing.T) {
	for name := range values {
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		for _, o := range render(t, name) {
			if err := e.Encode(o); err != nil {
				t.Fatal(err)
			}
		}
		transcript.File(t, "testdata/chart/"+name+".yaml", b.String())
	}
}

// What the chart configures is a configuration that the program takes.
func TestChartConfiguration(t *testing.T) {
	for name := range values {
		for _, o := range render(t, name) {
			if o["kind"] != "ConfigMap" {
				continue
			}
			text, _, _ := unstructured.NestedString(o, "data", "config.yaml")
			f, findings := settings.Load(name, []byte(text))
			if f == nil {
				t.Errorf("%s\n%s", findings.Text(nil), text)
			} else if f.Spool.Dir != "/spool" || (name == "namespaces") != (len(f.Watch.Namespaces) == 2) || (name == "everything") != (f.Push.URL != "") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// An API server takes every object of the chart, and the rights in it are those of the chart's files, which
// TestRights holds to what the program does.
func TestChartApplies(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ctx := cluster.Context(t)
	ns := c.Namespace(t)
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	resources := map[string]schema.GroupVersionResource{
		"ServiceAccount": {Version: "v1", Resource: "serviceaccounts"}, "ConfigMap": {Version: "v1", Resource: "configmaps"}, "Service": {Version: "v1", Resource: "services"},
		"Deployment":  {Group: "apps", Version: "v1", Resource: "deployments"},
		"ClusterRole": {Group: rbacv1.GroupName, Version: "v1", Resource: "clusterroles"}, "ClusterRoleBinding": {Group: rbacv1.GroupName, Version: "v1", Resource: "clusterrolebindings"},
		"Role": {Group: rbacv1.GroupName, Version: "v1", Resource: "roles"}, "RoleBinding": {Group: rbacv1.GroupName, Version: "v1", Resource: "rolebindings"},
	}
	for name := range values {
		kinds := map[string]int{}
		for _, o := range render(t, name) {
			u := &unstructured.Unstructured{Object: o}
			kinds[u.GetKind()]++
			var to dynamic.ResourceInterface = client.Resource(resources[u.GetKind()])
			if in := u.GetNamespace(); in != "" {
				if in == "observe" {
					in = ns
				}
				u.SetNamespace(in)
				to = client.Resource(resources[u.GetKind()]).Namespace(in)
			}
			if _, err := to.Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}); err != nil {
				t.Errorf("%s: %s: %v", name, identity(o), err)
			}
			if u.GetKind() == "ClusterRole" {
				file := map[bool]string{true: "rules-nodes.yaml", false: "rules-cluster.yaml"}[name == "namespaces"]
				sameRules(t, o, rules(t, file))
			}
			if u.GetKind() == "Role" {
				sameRules(t, o, rules(t, "rules-namespace.yaml"))
			}
		}
		if want := map[bool]int{true: 2, false: 0}[name == "namespaces"]; kinds["Role"] != want || kinds["RoleBinding"] != want || kinds["ClusterRole"] != 1 || kinds["Deployment"] != 1 {
			t.Errorf("%s: %v", name, kinds)
		}
	}
}

func sameRules(t *testing.T, o map[string]any, want []rbacv1.PolicyRule) {
	t.Helper()
	data, err := json.Marshal(o["rules"])
	if err != nil {
		t.Fatal(err)
	}
	var got []rbacv1.PolicyRule
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Errorf("%s has %s, want %s", identity(o), a, b)
	}
}

// The configuration that the guide shows is one.
func TestDocumentedConfiguration(t *testing.T) {
	_, after, found := strings.Cut(readFileText(t, "../../../docs/observer.md"), "```yaml\n")
	text, _, ended := strings.Cut(after, "```")
	if !found || !ended {
		t.Fatal("the guide shows none")
	}
	if f, findings := settings.Load("observer.md", []byte(text)); f == nil {
		t.Error(findings.Text(map[string]string{"observer.md": text}))
	}
}
