package profile

import "github.com/berthdev/berth/internal/source"

// activeSection bounds what runs, and has nothing to do with resource_limits, which bound a pod.
type activeSection struct {
	Runs  int `yaml:"active_runs" doc:"how many runs may be active, at least 1; without it there is no bound"`
	Steps int `yaml:"active_steps" doc:"how many steps of all runs may be active, at least 1; without it there is no bound"`
}

// Hints says where keys belong that bound a pod.
func (activeSection) Hints() map[string]string {
	hints := map[string]string{}
	for _, key := range []string{"cpu", "memory", "ephemeral-storage", "requests", "limits"} {
		hints[key] = "put it under resource_limits"
	}
	hints["max_active_steps"] = "write active_steps; max_active_steps is a pipeline's own bound"
	return hints
}

type executorSection struct {
	Kubernetes kubernetesSection `yaml:"kubernetes" doc:"steps as pods of a Kubernetes cluster; where it is written, that is what berth run does unless it is told otherwise"`
}

type kubernetesSection struct {
	Namespace       string          `yaml:"namespace" doc:"namespace of the pods; that of the kubeconfig's context if absent"`
	PodSecurity     PodSecurity     `yaml:"pod_security" doc:"the pod security standard that every step's pod is held to before it is created: restricted, baseline (the default) or privileged"`
	Keep            keepSection     `yaml:"keep" doc:"how long a pod stays after its attempt has ended and its log was archived"`
	NodeLostTimeout source.Duration `yaml:"node_lost_timeout" doc:"how long a node may say nothing before the attempts on it count as lost; 10m if absent"`
	ForceDeleteLost bool            `yaml:"force_delete_lost" doc:"delete the pods of lost attempts without waiting for their node, so that retries can start; nothing then proves that a lost pod does not run"`
}

type keepSection struct {
	Succeeded source.Duration `yaml:"succeeded" doc:"after success, from the end of the attempt; 0s if absent"`
	Failed    source.Duration `yaml:"failed" doc:"after any other end; 10m if absent"`
}

type logsSection struct {
	Archive string       `yaml:"archive" doc:"where the logs of ended attempts are kept: file:///FOLDER, or none to keep none; a folder beside the state of the runs if absent"`
	Follow  followPolicy `yaml:"follow" doc:"when the log of a running attempt is followed: on_demand (the default: while someone reads it) or always (what was followed is what is kept, and there is no read at the end)"`
}

type followPolicy string

const (
	followOnDemand followPolicy = "on_demand"
	followAlways   followPolicy = "always"
)

func (followPolicy) Values() []string { return []string{string(followOnDemand), string(followAlways)} }
