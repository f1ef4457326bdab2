package placement

import (
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

func TestLocks(t *testing.T) {
	baseline := base(`{"tolerations": [{"key": "a", "operator": "Exists"}], "imagePullSecrets": [{"name": "r"}],
		"containers": [{"name": "step", "env": [{"name": "A", "value": "1"}]}]}`)
	tests := []struct {
		lock, layer string
		broken      bool
	}{
		{"tolerations", `{"tolerations": [{"key": "b", "operator": "Exists"}]}`, false},
		{"tolerations", `{"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}]}`, true},
		{"tolerations", `{"tolerations": null}`, true},
		{"tolerations[a:Exists::]", `{"tolerations": [{"$patch": "replace"}]}`, true},
		{"tolerations[a:Exists::]", `{"tolerations": [{"$patch": "replace"}, {"key": "a", "operator": "Exists"}]}`, false},
		{"imagePullSecrets", `{"imagePullSecrets": [{"name": "s"}]}`, true}, // others than tolerations are locked whole
		{"imagePullSecrets[r]", `{"imagePullSecrets": [{"name": "s"}]}`, false},
		{"imagePullSecrets[s]", `{"imagePullSecrets": [{"name": "s"}]}`, true},
		{"containers[step].env[A]", `{"containers": [{"name": "step", "env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}]}`, true},
		{"containers[step].env[A].value", `{"containers": [{"name": "step", "env": [{"name": "A", "value": "2"}]}]}`, true},
		{"containers[step].env[A].name", `{"containers": [{"name": "step", "$patch": "delete"}]}`, true},
		{"containers[step].env[A]", `{"containers": [{"name": "step", "image": "i", "env": [{"name": "A", "value": "1"}]}]}`, false},
		{"affinity.nodeAffinity", `{"affinity": {"podAffinity": {}}}`, false},
		{"affinity", `{"affinity": {"podAffinity": {}}}`, true}, // the baseline leaves it unset
	}
	for _, test := range tests {
		locked := Governs{Locked: []Path{MustPath(test.lock)}}
		result := Compose([]Layer{baseline, over(test.layer)}, locked)
		if got := result.Findings.HasErrors(); got != test.broken {
			t.Errorf("lock %s, overlay %s: findings are\n%s", test.lock, test.layer, result.Findings.Text(nil))
		}
		for _, f := range result.Findings.All() {
			if f.Code != finding.LockedField || f.Path != test.lock {
				t.Errorf("lock %s, overlay %s: %v", test.lock, test.layer, f)
			}
		}
	}
}

// What Berth relies on stands above locks; the layer that broke one is named, not those after it.
func TestLocksAreForOthers(t *testing.T) {
	locked := Governs{Locked: []Path{MustPath("affinity"), MustPath("hostNetwork")}}
	result := Compose([]Layer{base(`{}`), over(`{"hostNetwork": true}`),
		{Kind: Berth, Fragment: parse(`{"affinity": {"podAffinity": {}}, "hostNetwork": true}`)}}, locked)
	if all := result.Findings.All(); len(all) != 1 || all[0].Path != "hostNetwork" {
		t.Errorf("findings are\n%s", result.Findings.Text(nil))
	}
}
