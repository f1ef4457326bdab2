package govern

import (
	"slices"
	"testing"

	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// TestEveryCheckIsAttributed has a pod that every check of Kubernetes forbids: for each, it must be told which
// layer is to blame, and an update that brings a check needs a row in offences.
func TestEveryCheckIsAttributed(t *testing.T) {
	container := map[string]any{
		"name":          "step",
		"ports":         []any{map[string]any{"containerPort": int64(1), "hostPort": int64(1)}},
		"livenessProbe": map[string]any{"httpGet": map[string]any{"host": "10.0.0.1", "port": int64(1)}},
		"securityContext": map[string]any{
			"privileged": true, "allowPrivilegeEscalation": true, "procMount": "Unmasked", "runAsNonRoot": false, "runAsUser": int64(0),
			"capabilities":    map[string]any{"add": []any{"SYS_ADMIN"}},
			"seLinuxOptions":  map[string]any{"user": "u"},
			"seccompProfile":  map[string]any{"type": "Unconfined"},
			"appArmorProfile": map[string]any{"type": "Unconfined"},
			"windowsOptions":  map[string]any{"hostProcess": true},
		},
	}
	pod := map[string]any{
		"hostNetwork":     true,
		"securityContext": map[string]any{"sysctls": []any{map[string]any{"name": "kernel.msgmax", "value": "1"}}},
		"volumes":         []any{map[string]any{"name": "v", "hostPath": map[string]any{"path": "/"}}},
		"containers":      []any{container},
	}
	good := map[string]any{"containers": []any{map[string]any{"name": "other", "securityContext": map[string]any{
		"runAsUser": int64(1), "seccompProfile": map[string]any{"type": "RuntimeDefault"},
		"capabilities": map[string]any{"add": []any{"NET_BIND_SERVICE"}, "drop": []any{"ALL"}}}}}}
	result := placement.Compose([]placement.Layer{{Kind: placement.Baseline, Fragment: good}, {Kind: placement.Profile, Name: "bad", Fragment: pod}}, placement.Governs{})
	typedPod, err := typed(result.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	c := composed{&Step{&pipeline.Instance{}, result.Fragment, result.Origins}, typedPod}
	failed := map[string]bool{}
	for _, level := range []api.Level{api.LevelBaseline, api.LevelRestricted} {
		version := api.LevelVersion{Level: level, Version: api.LatestVersion()}
		for _, r := range checks().EvaluatePod(version, &c.pod.ObjectMeta, &c.pod.Spec) {
			if r.Allowed {
				t.Errorf("a check of %s allows the pod: add what it forbids", level)
				continue
			}
			failed[r.ForbiddenReason] = true
			if layers, path := c.offenders(r); !slices.Equal(layers, []string{"profile:bad"}) || path == nil {
				t.Errorf("%s (%s): blamed are %v at %s", r.ForbiddenReason, r.ForbiddenDetail, layers, path)
			}
		}
	}
	if most := len(policy.DefaultChecks()); len(failed) < 15 || len(failed) > most {
		t.Errorf("%d reasons of %d checks", len(failed), most)
	}
}

func TestLevels(t *testing.T) {
	for standard, want := range map[profile.PodSecurity]api.Level{
		profile.BaselineStandard: api.LevelBaseline, profile.Restricted: api.LevelRestricted, profile.Privileged: api.LevelPrivileged,
		"": api.LevelRestricted, "Privileged": api.LevelRestricted,
	} {
		if got := newSecurity(standard).level; got != want {
			t.Errorf("%q is %s, want %s", standard, got, want)
		}
	}
}
