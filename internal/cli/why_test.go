package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/plan"
)

const whyFolder = "testdata/why"

// The four kinds of answers, in each format, from a folder of files.
var whyQuestions = []struct{ schema, args string }{
	{"why", "deploy/web -n shop"},
	{"why", "pod/web-2 -n shop"},
	{"why-node", "node/a-0"},
	{"why-fleet", "nodes"},
	{"why-fleet", "--summary -A"},
	{"why-fleet", "nodes -l pool=small"},
	{"why-pending", "--pending -A"},
	{"why-pending", "--pending -n nowhere"},
}

func askWhy(t *testing.T, want int, args string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, code := berth(append([]string{"why"}, strings.Fields(args)...)...)
	if code != want {
		t.Fatalf("berth why %s: exit code %d, want %d\n%s%s", args, code, want, stderr, stdout)
	}
	return stdout, stderr
}

// What -o json prints is as its schema says, and -o yaml the same.
func TestWhySchemas(t *testing.T) {
	for _, q := range whyQuestions {
		stdout, _ := askWhy(t, exitOK, q.args+" -o json -f "+whyFolder)
		schema := compiledSchema(t, q.schema)
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("berth why %s: %v\n%s", q.args, err, stdout)
		}
		asYAML, _ := askWhy(t, exitOK, q.args+" -o yaml -f "+whyFolder)
		if err := schemaRefuses(t, schema, asYAML); err != nil {
			t.Errorf("berth why %s -o yaml: %v", q.args, err)
		}
	}
}

// Every format has every constraint, and what is not known.
func TestWhyFormats(t *testing.T) {
	for _, q := range whyQuestions[:7] {
		table, _ := askWhy(t, exitOK, q.args+" -f "+whyFolder)
		page, _ := askWhy(t, exitOK, q.args+" -o html -f "+whyFolder)
		if !strings.Contains(table, "Not known") || !strings.Contains(page, "Not known") {
			t.Errorf("berth why %s: nothing is not known", q.args)
		}
		for _, elsewhere := range []string{"<script", "<link", "src=", "href="} {
			if strings.Contains(page, elsewhere) {
				t.Errorf("berth why %s -o html: has %s", q.args, elsewhere)
			}
		}
		rows, _ := askWhy(t, exitOK, q.args+" -o csv -f "+whyFolder)
		records, err := csv.NewReader(strings.NewReader(rows)).ReadAll() // which wants rows of one length
		if err != nil || len(records) < 2 {
			t.Errorf("berth why %s -o csv: %d rows, %v", q.args, len(records), err)
		}
	}
	page, _ := askWhy(t, exitOK, "deploy/web -n shop -o html -f "+whyFolder)
	if strings.Contains(page, "<b>") || !strings.Contains(page, "&lt;b&gt;") {
		t.Error("what someone has written into an object gets into the page")
	}
}

// Mistakes end with 2 and say what to write; what is not there ends with 1 and says what is.
func TestWhyMistakes(t *testing.T) {
	empty := t.TempDir()
	write(t, empty, "broken.json", `{"items":[{"kind":"Pod"`)
	write(t, empty, "wrong.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: 7}\n")
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"", 2, "say what it is about"},
		{"web", 2, `"web": write TYPE/NAME`},
		{"deploy web", 2, `write deploy/web`},
		{"deploy/web sts/db", 2, "one thing at a time"},
		{"deploy/web --pending", 2, "ask one thing at a time"},
		{"--pending -l pool=small", 2, "-l is for nodes"},
		{"nodes -l pool==(", 2, "is no selector"},
		{"deploy/web -A", 2, "a workload is in one namespace"},
		{"--pending -A -n shop", 2, "exclude each other"},
		{"deploy/web --context x", 2, "leave out --kubeconfig and --context"},
		{"deploy/web -o xml", 2, "must be table or json or yaml or csv or html"},
		{"run/x step", 2, "write run/RUN step/STEP"},
		{"deploy/wbe -n shop", 1, "there is no deployment/wbe in shop: there is web in the namespace shop"},
		{"deploy/webb -n shop", 1, "did you mean web?"},
		{"node/a-9", 1, "there is no node/a-9"},
		{"sts/web -n shop", 1, "there are none in the namespace shop"},
		{"deploy/web -f " + empty + "/broken.json", 2, "broken.json: line 1: unexpected EOF"},
		{"deploy/web -f " + empty + "/wrong.yaml", 2, "Pod is none to Kubernetes"},
		{"deploy/web -f " + empty + "/missing", 2, "no such file"},
		{"deploy/web -f " + t.TempDir(), 2, "has no file that ends with"},
	} {
		args := test.args
		if !strings.Contains(args, "-f ") && !strings.HasPrefix(args, "run/") {
			args += " -f " + whyFolder
		}
		if args == " -f "+whyFolder {
			args = ""
		}
		if _, stderr := askWhy(t, test.code, args); !strings.Contains(stderr, test.want) {
			t.Errorf("berth why %s: no %q in\n%s", test.args, test.want, stderr)
		}
	}
}

// A namespace that is left open is the one that has such a thing; if several do, they are named.
func TestWhyNamespace(t *testing.T) {
	if stdout, _ := askWhy(t, exitOK, "deploy/web -f "+whyFolder); !strings.HasPrefix(stdout, "deployment/web in shop: ") {
		t.Errorf("%s", stdout)
	}
	dir := t.TempDir()
	write(t, dir, "w.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: staging}\nspec: {template: {spec: {containers: [{name: c}]}}}\n")
	if _, stderr := askWhy(t, exitInvalid, "deploy/web -f "+whyFolder+" -f "+dir); !strings.Contains(stderr, "in the namespaces shop, staging: choose one with -n") {
		t.Errorf("%s", stderr)
	}
}

// A dump answers as what it was written from does, to someone who has nothing else.
func TestWhyDump(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "dump.json")
	askWhy(t, exitOK, "--dump "+dump+" -f "+whyFolder)
	if info, err := os.Stat(dump); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, q := range whyQuestions {
		want, _ := askWhy(t, exitOK, q.args+" -o json -f "+whyFolder)
		got, stderr := askWhy(t, exitOK, q.args+" -o json -f "+dump)
		if got != want || stderr != "" {
			t.Errorf("berth why %s: %s\n%s\nwant\n%s", q.args, stderr, got, want)
		}
	}
}

// What files do not have is not known, and never free: without nodes nothing fits, without budgets nothing
// is said to be evictable, and a claim that is not there does not count as bound.
func TestWhyFilesWithout(t *testing.T) {
	for _, test := range []struct{ without, what string }{
		{"nodes.yaml", "nodes"}, {"budgets.yaml", "poddisruptionbudgets"}, {"pods.yaml", "pods"},
	} {
		dir := t.TempDir()
		for _, name := range []string{"nodes.yaml", "budgets.yaml", "pods.yaml", "web.yaml"} {
			if name != test.without {
				text, err := os.ReadFile(filepath.Join(whyFolder, name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, dir, name, string(text))
			}
		}
		stdout, _ := askWhy(t, exitOK, "deploy/web -n shop -o json -f "+dir)
		var r explain.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		known := true
		for _, u := range r.NotKnown {
			known = known && u.What != test.what
		}
		if known || !r.Incomplete {
			t.Errorf("without %s: incomplete %v, not known %+v", test.what, r.Incomplete, r.NotKnown)
		}
		for _, n := range r.Nodes {
			if test.what == "pods" && n.Fits {
				t.Errorf("without pods %s fits", n.Name)
			}
		}
	}
}

// Someone may pipe what kubectl prints.
func TestWhyStdin(t *testing.T) {
	var all bytes.Buffer
	all.WriteString(`{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n"},"status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"10"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"d","uid":"p"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},"status":{"phase":"Pending"}}]}`)
	root := newRoot()
	var out, complaints bytes.Buffer
	root.SetArgs([]string{"why", "-A", "--pending", "-f", "-"})
	root.SetIn(&all)
	root.SetOut(&out)
	root.SetErr(&complaints)
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "requests 2 cpu, and 1 node has less left") {
		t.Errorf("%v\n%s%s", err, complaints.String(), out.String())
	}
}

// Package explain writes the names of Berth's own labels once more, since it may not know of plans.
func TestWhyKnowsBerthsPods(t *testing.T) {
	if explain.LabelRun != plan.LabelRun || explain.AnnotationPlacement != plan.AnnotationPlacement {
		t.Error("they are called otherwise")
	}
}
