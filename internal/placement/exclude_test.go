package placement

import "testing"

func TestExclude(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"two architectures", `nodeSelector: {arch: amd64}`, `nodeSelector: {arch: arm64}`, "nodeSelector arch=amd64 and nodeSelector arch=arm64"},
		{"the same", `nodeSelector: {arch: amd64}`, `nodeSelector: {arch: amd64}`, ""},
		{"other labels", `nodeSelector: {arch: amd64}`, `nodeSelector: {tier: critical}`, ""},
		{"nothing", `{}`, `nodeSelector: {arch: amd64}`, ""},
		{"In without", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: In, values: [arm64, riscv64]}`), "nodeSelector arch=amd64 and arch In [arm64, riscv64]"},
		{"In with", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: In, values: [arm64, amd64]}`), ""},
		{"NotIn", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: NotIn, values: [amd64]}`), "nodeSelector arch=amd64 and arch NotIn [amd64]"},
		{"NotIn another", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: NotIn, values: [arm64]}`), ""},
		{"DoesNotExist", `nodeSelector: {spot: "true"}`, terms(`{key: spot, operator: DoesNotExist}`), "nodeSelector spot=true and spot DoesNotExist"},
		{"ranges apart", terms(`{key: cores, operator: Gt, values: ["16"]}`), terms(`{key: cores, operator: Lt, values: ["17"]}`), "cores Gt [16] and cores Lt [17]"},
		{"ranges that meet", terms(`{key: cores, operator: Gt, values: ["16"]}`), terms(`{key: cores, operator: Lt, values: ["18"]}`), ""},
		{"one of the terms", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: In, values: [arm64]}`, `{key: tier, operator: Exists}`), ""},
		{"none of the terms", `nodeSelector: {arch: amd64, tier: low}`, terms(`{key: arch, operator: In, values: [arm64]}`, `{key: tier, operator: In, values: [high]}`), "nodeSelector arch=amd64 and arch In [arm64]"},
		{"selector beside terms", "nodeSelector: {arch: amd64}\n" + terms(`{key: tier, operator: Exists}`), `nodeSelector: {arch: arm64}`, "nodeSelector arch=amd64 and nodeSelector arch=arm64"},
		{"other nodes by name", terms(`{key: zone, operator: In, values: [a]}`), `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: zone, operator: In, values: [b]}]}]}}}}`, ""},
		{"an operator that is newer", `nodeSelector: {arch: amd64}`, terms(`{key: arch, operator: Like, values: [arm*]}`), ""},
		{"a term that is newer", `nodeSelector: {arch: amd64}`, `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchTaints: [x]}]}}}}`, ""},
		{"only preferred", `nodeSelector: {arch: amd64}`, `{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: arch, operator: In, values: [arm64]}]}}]}}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := fromYAML(t, test.a), fromYAML(t, test.b)
			if got := Exclude(a, b); got != test.want {
				t.Errorf("got %q", got)
			}
			if there, back := Exclude(a, b) != "", Exclude(b, a) != ""; there != back {
				t.Error("it depends on which comes first")
			}
			if Exclude(a, a) != "" {
				t.Error("a pod excludes itself")
			}
		})
	}
}

func terms(expressions ...string) string {
	text := "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
	for _, e := range expressions {
		text += "{matchExpressions: [" + e + "]}, "
	}
	return text + "]}}}"
}

// The order in which a demand is written makes no other one.
func TestNodeDemandID(t *testing.T) {
	x, y := `{key: x, operator: In, values: [a, b]}`, `{key: y, operator: Exists}`
	id := func(text string) string { return DemandOf(fromYAML(t, text)).ID() }
	if id(terms(x, y)) != id(terms(y, `{key: x, operator: In, values: [b, a]}`)) {
		t.Error("another order is another demand")
	}
	if id(terms(x, y)) == id(terms(x+", "+y)) {
		t.Error("or is and")
	}
	if id(`nodeSelector: {x: a}`) == id(`nodeSelector: {x: b}`) {
		t.Error("another value is the same demand")
	}
}
