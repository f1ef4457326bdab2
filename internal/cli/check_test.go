package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata/check show what berth check says. Each case begins with "== TITLE" and prose.
// "-- args --" is the command line after berth check; "-- FILE --" is a file, and operator.yaml and
// nodes.yaml are ACME's if they are not given. "-- exit CODE --" has what is printed to stderr and then to
// stdout.
func TestCheckGolden(t *testing.T) {
	seen := map[finding.Code]bool{}
	transcript.Test(t, "testdata/check/*.txt", func(t *testing.T, text string) (again string) {
		title, _, _ := strings.Cut(text, "\n")
		t.Run(title, func(t *testing.T) { again = checkCase(t, text, seen) })
		return again
	})
	for _, code := range []finding.Code{finding.ProfileFitsNoNode, finding.NodeNotReady, finding.LabelMissing} {
		if !seen[code] {
			t.Errorf("no transcript shows %s", code)
		}
	}
}

// checkCase runs a case in a folder of its own, and gives it again with what was printed.
func checkCase(t *testing.T, text string, seen map[finding.Code]bool) string {
	dir := t.TempDir()
	for _, name := range []string{"operator.yaml", "nodes.yaml"} {
		data, err := os.ReadFile(filepath.Join("../../examples/acme", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(data))
	}
	given, sections := transcript.Sections(text)
	var args []string
	for _, section := range sections {
		if strings.HasPrefix(section.Name, "exit ") {
			break
		}
		given += section.String()
		if section.Name == "args" {
			args = strings.Fields(section.Body)
		} else {
			write(t, dir, section.Name, section.Body)
		}
	}
	t.Chdir(dir)
	t.Setenv(operatorVariable, "operator.yaml")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	stdout, stderr, code := berth(append([]string{"check"}, args...)...)
	for _, c := range finding.Codes() {
		seen[c] = seen[c] || strings.Contains(stderr, "("+string(c)+")")
	}
	return fmt.Sprintf("%s-- exit %d --\n%s", given, code, strings.ReplaceAll(stderr+stdout, dir, "DIR"))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const acmeOperator, acmeNodes = "../../examples/acme/operator.yaml", "../../examples/acme/nodes.yaml"

// TestCheckForms reads the same nodes in each of the forms that a file may have.
func TestCheckForms(t *testing.T) {
	dir := t.TempDir()
	const one = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","labels":{"kubernetes.io/os":"linux","kubernetes.io/arch":"arm64","node-group":"010"}},` +
		`"spec":{"taints":[{"key":"workload-type","value":"batch","effect":"NoSchedule"}]},"status":{"capacity":{"cpu":"8","memory":"16Gi","pods":"10"},"nodeInfo":{"x":{}}}}`
	for name, text := range map[string]string{
		"node.json":   one,
		"list.json":   `{"apiVersion": "v1", "items": [` + one + `], "kind": "List", "metadata": {"resourceVersion": ""}}`,
		"typed.json":  `{"kind": "NodeList", "apiVersion": "v1", "items": [` + strings.Replace(one, `"kind":"Node",`, "", 1) + `]}`,
		"list.yaml":   "apiVersion: v1\nkind: List\nitems:\n- " + one + "\n",
		"plain.yaml":  "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/os: linux, kubernetes.io/arch: arm64, node-group: 010}}\nspec: {taints: [{key: workload-type, value: batch, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 8, memory: 16Gi, pods: 10}}\n",
		"short.yaml":  "version: 1\npools:\n- {name: a, labels: {kubernetes.io/arch: arm64, node-group: \"010\"}, taints: [{key: workload-type, value: batch, effect: NoSchedule}]}\n",
		"short.json":  `{"version": 1, "pools": [{"name": "a", "count": 1, "labels": {"kubernetes.io/arch": "arm64", "node-group": "010"}, "taints": [{"key": "workload-type", "value": "batch", "effect": "NoSchedule"}]}]}`,
		"header.yaml": "# by hand\n---\napiVersion: v1\nitems:\n- " + one + "\nkind: List\n",
	} {
		write(t, dir, name, text)
		stdout, stderr, code := berth("check", "--operator", acmeOperator, "--nodes", filepath.Join(dir, name), "--profiles", "arm64", "--profiles", "gpu", "-o", "json")
		var got checked
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitFailed {
			t.Errorf("%s: exit code %d, %v: %s", name, code, err, stderr)
			continue
		}
		if arm := got.Profiles[0]; len(arm.Nodes) != 1 || !strings.HasPrefix(arm.Nodes[0], "a") || len(arm.Blocked) != 0 || arm.DryRun != nil {
			t.Errorf("%s: arm64: %+v", name, arm)
		}
		gpu := got.Profiles[1].Blocked
		if len(gpu) != 1 || len(gpu[0].Reasons) != 2 || gpu[0].Reasons[1].Text != "label node-group is 010, wanted gpu (nodeSelector)" || gpu[0].Reasons[1].Key != "node-group" {
			t.Errorf("%s: gpu: %+v", name, gpu)
		}
	}
}

// TestCheckInvalidNodes has a line for each thing that may be wrong with a file of nodes.
func TestCheckInvalidNodes(t *testing.T) {
	pool := func(rest string) string { return "version: 1\npools:\n- {name: a, " + rest + "}\n" }
	listOf := func(item string) string { return `{"apiVersion": "v1", "kind": "List", "items": [` + item + `]}` }
	dir := t.TempDir()
	for _, test := range []struct{ text, want string }{
		{"", `1:1: error: the file is empty (yaml_invalid)`},
		{"pools: []", `1:1: error: the file has no version (key_missing)`},
		{"version: 1", `1:1: error: the file has no pools (key_missing)`},
		{"version: 2\npools: []", `1:10: error: version is 2, and this Berth reads version 1 only (value_unknown)`},
		{"version: 1\npool: []", `did you mean pools?`},
		{"version: 1\nnodes: []", `fix: write pools: a list of pools`},
		{"kind: List\nitems: []", `fix: what kubectl prints begins with apiVersion: v1`},
		{"version: 1\npools:\n- {}", `3:3: error: pools[0] has no name (key_missing)`},
		{"version: 1\npools:\n- {name: A}", `3:10: error: the pool's name, "A", has an upper-case letter`},
		{"version: 1\npools:\n- {name: a}\n- {name: a}", `4:10: error: the pool a is there already, in line 3 (name_twice)`},
		{pool("count: -1"), `3:20: error: count is -1 (number_out_of_range)`},
		{pool("count: 20001"), `3:20: error: the pools have more than 20000 nodes, which are the most (too_large)`},
		{pool("count: many"), `error: pools[a].count is a string, and must be an integer`},
		{pool("count: null"), `error: pools[a].count has no value`},
		{pool("cuont: 1"), `did you mean count?`},
		{pool("replicas: 1"), `fix: write count`},
		{pool("arch: arm64"), `fix: write labels: {kubernetes.io/arch: ...}`},
		{pool("kind: fake"), `error: pools[a].kind is "fake", and must be real, process or scale`},
		{pool("kind: scale, run_for: 1"), `pools[a].run_for is a number without a unit`},
		{pool("labels: {tier: 1}"), `fix: quote it: "1"`},
		{pool(`labels: {"a b": c}`), `error: label "a b": `},
		{pool(`labels: {a: "b c"}`), `3:25: error: label value "b c": `},
		{pool("taints: {}"), `must be a list`},
		{pool("taints: [{key: a}]"), `error: pools[a].taints[0] has no effect (key_missing)`},
		{pool("taints: [{effect: NoSchedule}]"), `error: pools[a].taints[0] has no key (key_missing)`},
		{pool("taints: [{key: a, effect: NoSchedul}]"), `did you mean NoSchedule?`},
		{pool("taints: [{key: a/b/c, effect: NoSchedule}]"), `error: taint key "a/b/c": `},
		{pool("taints: [{key: a, value: b c, effect: NoSchedule}]"), `error: taint value "b c": `},
		{pool("taints: [{key: a, operator: Exists, effect: NoSchedule}]"), `unknown key "operator"`},
		{pool("capacity: {cpu: 8}"), `fix: quote it: "8"`},
		{pool("capacity: {memory: 16GB}"), `no quantity: "16GB"`},
		{pool("capacity: {nvidia.com/gpu: x}"), `error: pools[a].capacity."nvidia.com/gpu" is no quantity`},
		{"apiVersion: v1\nkind: PodList\nitems: []", `nodes.yaml: kind: error: kind is "PodList", and must be List, NodeList or Node (value_unknown)`},
		{"apiVersion: v2\nkind: List\nitems: []", `error: apiVersion is "v2", and nodes have v1`},
		{"apiVersion: v1\n\tkind: List", `error: the file can't be read: `},
		{"{\"apiVersion\": \"v1\",\n\"kind\": List}", `error: the file can't be read: line 2: invalid character`},
		{listOf(`{"kind": "Pod", "metadata": {"name": "p"}}`), `items[0].kind: error: items[0] is of kind "Pod", and only nodes are read`},
		{listOf(`{"metadata": {"name": "p"}}`), `items[0] is of kind ""`},
		{listOf(`{"kind": "Node"}`), `items[0].metadata.name: error: items[0] has no name`},
		{listOf(`{"kind": "Node", "metadata": {"name": "n"}}, {"kind": "Node", "metadata": {"name": "n"}}`), `error: the node n is there twice`},
		{listOf(`{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "x"}}}`), `error: node n: cpu is no quantity: "x"`},
		{listOf(`{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1e2147483647"}}}`), `error: node n: cpu is no quantity`},
	} {
		write(t, dir, "nodes.yaml", test.text)
		name := filepath.Join(dir, "nodes.yaml")
		stdout, stderr, code := berth("check", "--operator", acmeOperator, "--nodes", name)
		if code != exitInvalid || stdout != "" || !strings.Contains(strings.ReplaceAll(stderr, dir+"/", ""), test.want) {
			t.Errorf("%q: exit code %d, stdout %q, stderr\n%swant %s", test.text, code, stdout, stderr, test.want)
		}
	}
}

// TestCheckWithoutAnswer has the ends that come before any profile is checked.
func TestCheckWithoutAnswer(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "operator.yaml", "version: 1\nplacement_profile: []\n")
	write(t, dir, "kubeconfig", `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "u", "user": {}}]}`)
	for _, test := range []struct {
		line string
		code int
		want string
	}{
		{"--operator DIR/operator.yaml --nodes " + acmeNodes, exitInvalid, "did you mean placement_profiles?"},
		{"--operator DIR/none --nodes " + acmeNodes, exitInvalid, "no such file"},
		{"--operator " + acmeOperator + " --nodes DIR/none", exitInvalid, "no such file"},
		{"--operator " + acmeOperator + " --nodes=", exitInvalid, "--nodes names no file"},
		{"--nodes a --context b", exitInvalid, "--context beside --nodes, which asks no cluster: leave one of them out"},
		{"--node a", exitInvalid, "unknown flag --node: did you mean --nodes?"},
		{"nodes.yaml", exitInvalid, `unexpected argument "nodes.yaml"`},
		{"-o yaml", exitInvalid, "must be table or json"},
		{"--operator " + acmeOperator + " --nodes " + acmeNodes + " --profiles arm46", exitInvalid, `there is no profile "arm46": did you mean arm64?`},
		{"--operator " + acmeOperator + " --nodes " + acmeNodes + " --profiles windows", exitInvalid, `the operator file has amd64, arm64, critical`},
		{"--operator " + acmeOperator + " --nodes " + acmeNodes + " --profiles gpu,", exitInvalid, `--profiles "gpu,": a name is missing`},
		{"--operator " + acmeOperator + " --nodes " + acmeNodes + " --profiles gpu,gpu", exitInvalid, "names gpu twice"},
		{"--operator " + acmeOperator + " --kubeconfig DIR/none", exitNoService, "there is no kubeconfig at"},
		{"--operator " + acmeOperator + " --kubeconfig DIR/kubeconfig --context d", exitNoService, `the kubeconfig has no context "d"`},
		{"--operator " + acmeOperator + " --kubeconfig DIR/kubeconfig", exitNoService, "no answer from the cluster at 127.0.0.1:1 (context c): connection refused"},
	} {
		stdout, stderr, code := berth(append([]string{"check"}, strings.Fields(strings.ReplaceAll(test.line, "DIR", dir))...)...)
		if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d, want %d, stdout %q, stderr\n%swant %s", test.line, code, test.code, stdout, stderr, test.want)
		}
	}
}

// Five thousand nodes with as many reasons are a table that can be read.
func TestCheckManyNodes(t *testing.T) {
	dir := t.TempDir()
	text := "version: 1\npools:\n"
	for i := range 1000 {
		text += fmt.Sprintf("- {name: p%d, count: 5, labels: {kubernetes.io/arch: amd64, node-group: g%d, tier: standard}}\n", i, i)
	}
	write(t, dir, "nodes.yaml", text)
	stdout, _, code := berth("check", "--operator", acmeOperator, "--nodes", filepath.Join(dir, "nodes.yaml"))
	lines := strings.Split(stdout, "\n")
	if code != exitFailed || len(lines) > 60 {
		t.Errorf("exit code %d, %d lines", code, len(lines))
	}
	for _, line := range lines {
		if len(line) > 200 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if want := "not on 4970 more, for other reasons: -o json has them"; !strings.Contains(stdout, want) {
		t.Errorf("no %q in\n%s", want, stdout)
	}
}

func TestProgress(t *testing.T) {
	for _, seen := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			p := startProgress(&b, seen)
			p.say("listing nodes")
			time.Sleep(unworried - 1)
			synctest.Wait()
			if b.Len() > 0 {
				t.Errorf("said too early: %q", b.String())
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			p.say("dry run of %s", "a")
			p.end()
			p.end()
			want := "\r\x1b[Klisting nodes\r\x1b[Kdry run of a\r\x1b[K"
			if !seen {
				want = ""
			}
			if b.String() != want {
				t.Errorf("seen %v: %q, want %q", seen, b.String(), want)
			}
		})
	}
}
