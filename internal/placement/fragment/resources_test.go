package fragment

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// authored is something that has resources, as a step has.
type authored struct {
	Resources *Resources `yaml:"resources"`
}

func readResources(t *testing.T, text string) (*Resources, string) {
	t.Helper()
	root, findings := source.Parse("p.yaml", []byte("resources: "+text))
	if root == nil {
		t.Fatal(findings.Text(nil))
	}
	var a authored
	findings.Join(source.Decode(root, &a))
	return a.Resources, findings.Text(nil)
}

func TestResources(t *testing.T) {
	tests := []struct {
		name, in, want, findings string
	}{
		{"in short", `{cpu: "2", memory: 4Gi}`,
			`{"limits":{"cpu":"2","memory":"4Gi"},"requests":{"cpu":"2","memory":"4Gi"}}`, ""},
		{"in full", `{requests: {cpu: "1"}, limits: {nvidia.com/gpu: "1"}}`,
			`{"limits":{"nvidia.com/gpu":"1"},"requests":{"cpu":"1"}}`, ""},
		{"one side", `{limits: {hugepages-2Mi: 4Mi}}`, `{"limits":{"hugepages-2Mi":"4Mi"}}`, ""},
		{"nothing", `{}`, `{}`, ""},
		{"as it was written", `{cpu: 0.50}`, `{}`,
			`p.yaml:1:18: error: resources.cpu is a number (0.50), and quantities are strings (not_a_string)` + "\n" + `    fix: quote it: "0.50"` + "\n"},
		{"expressions stay for later", `{cpu: "${{ matrix.cpu }}", requests.example.com/x: "1"}`,
			`{"limits":{"cpu":"${{ matrix.cpu }}","requests.example.com/x":"1"},"requests":{"cpu":"${{ matrix.cpu }}","requests.example.com/x":"1"}}`, ""},
		{"a request that is not known yet", `{requests: {cpu: "${{ matrix.cpu }}"}, limits: {cpu: "1"}}`,
			`{"limits":{"cpu":"1"},"requests":{"cpu":"${{ matrix.cpu }}"}}`, ""},
		{"the same, differently written", `{requests: {cpu: 1000m}, limits: {cpu: "1"}}`, `{"limits":{"cpu":"1"},"requests":{"cpu":"1000m"}}`, ""},
		{"a request above its limit", `{requests: {cpu: 1001m}, limits: {cpu: "1"}}`, `{"limits":{"cpu":"1"},"requests":{"cpu":"1001m"}}`,
			"p.yaml:1:29: error: the request of cpu is 1001m, above its limit of 1 in line 1 (request_above_limit)\n    fix: lower the request, or raise the limit\n"},
		{"both forms", `{cpu: "1", limits: {memory: 1Gi}}`, `{"limits":{"memory":"1Gi"}}`,
			"p.yaml:1:13: error: cpu stands beside requests and limits: resources have either the short form or the long one (unknown_key)\n    fix: move cpu into requests, limits or both\n"},
		{"a misspelled side", `{limit: {memory: 1Gi}}`, `{}`,
			"p.yaml:1:13: error: limit stands beside requests and limits: resources have either the short form or the long one (unknown_key)\n    fix: did you mean limits?\n"},
		{"no value for a side", `{limits: }`, `{}`,
			"p.yaml:1:21: error: resources.limits has no value (wrong_type)\n    fix: give it a value, or leave the key out\n"},
		{"not a resource", `{storage: 1Gi, "/x": "1"}`, `{}`,
			"p.yaml:1:13: error: \"storage\" is no resource that Kubernetes knows for containers (value_unknown)\n    fix: write ephemeral-storage\n" +
				"p.yaml:1:27: error: \"/x\" is no resource that Kubernetes knows for containers (value_unknown)\n    fix: write cpu, memory or ephemeral-storage; others have a domain, as nvidia.com/gpu has\n"},
		{"a list of quantities", `{memory: [1Gi]}`, `{}`,
			"p.yaml:1:21: error: resources.memory is a list, and must be a quantity in quotes (wrong_type)\n"},
	}
	for _, test := range tests {
		r, findings := readResources(t, test.in)
		got, err := json.Marshal(r.Object())
		if err != nil || string(got) != test.want || findings != test.findings {
			t.Errorf("%s: got %s\n%s\nwant %s\n%s", test.name, got, findings, test.want, test.findings)
		}
	}
}

func TestResourcesOfNoMap(t *testing.T) {
	for in, want := range map[string]string{"4Gi": "is a string", "[a]": "is a list", "": "has no value"} {
		r, findings := readResources(t, in)
		if !strings.Contains(findings, want) {
			t.Errorf("%q: %s", in, findings)
		}
		if f := r.Fragment(); len(f) > 0 {
			t.Errorf("%q: %v", in, f)
		}
	}
}

func TestResourcesFragment(t *testing.T) {
	r, _ := readResources(t, `{cpu: "2"}`)
	got := placement.Compose([]placement.Layer{{Kind: placement.Resources, Fragment: r.Fragment(), Locate: r.Locate}}, placement.Governs{})
	if got.Findings.Len() > 0 || len(got.Origins) != 3 {
		t.Errorf("composed: %v", got)
	}
}

func TestResourcesLocate(t *testing.T) {
	short, _ := readResources(t, "\n  cpu: \"1\"\n  memory: 1Gi\n")
	full, _ := readResources(t, "\n  requests: {cpu: \"1\"}\n  limits:\n    memory: 1Gi\n")
	tests := []struct {
		in           *Resources
		path         string
		line, column int
	}{
		{short, "containers[step].resources.requests.memory", 3, 3},
		{short, "containers[step].resources.limits.memory", 3, 3},
		{short, "containers[step].resources.limits", 2, 3},
		{short, "nodeSelector", 2, 3},
		{full, "containers[step].resources.requests.cpu", 2, 14},
		{full, "containers[step].resources.limits.memory", 4, 5},
		{full, "containers[step].resources.limits.cpu", 3, 3},
		{full, "containers[step].resources", 2, 3},
		{full, "containers[db].resources.limits.memory", 2, 3},
		{nil, "containers", 0, 0},
	}
	for _, test := range tests {
		if _, line, column := test.in.Locate(placement.MustPath(test.path)); line != test.line || column != test.column {
			t.Errorf("%s: %d:%d, want %d:%d", test.path, line, column, test.line, test.column)
		}
	}
}
