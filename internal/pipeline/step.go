package pipeline

import (
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// Step is the unit of work and the pod boundary, as it was written.
type Step struct {
	Name    string   `yaml:"name,required" doc:"name of the step: a DNS label, unique in the pipeline"`
	Needs   []string `yaml:"needs" doc:"names of the steps that have to end before this one starts"`
	If      string   `yaml:"if" doc:"CEL condition, ANDed with success() unless it uses always() or failure()"`
	Matrix  *Matrix  `yaml:"matrix" doc:"axes with their values; the step runs once for each combination"`
	Run     string   `yaml:"run" doc:"script, run by the shell; instead of command"`
	Command []string `yaml:"command" doc:"program with its first arguments; instead of run"`
	Args    []string `yaml:"args" doc:"further arguments of command"`
	Outputs []string `yaml:"outputs" doc:"names of the values that the step writes to $BERTH_OUTPUT as NAME=VALUE lines"`
	Common
}

// Common is what a step and the defaults for every step have in common.
type Common struct {
	Image             string                 `yaml:"image" doc:"container image; the local executor does without"`
	Shell             []string               `yaml:"shell" doc:"program that runs the script of run; [/bin/sh, -e] if absent"`
	WorkingDir        string                 `yaml:"working_dir" doc:"folder that the step starts in, relative to the workspace if there is one"`
	Env               map[string]source.Text `yaml:"env" doc:"environment variables; numbers and booleans are taken as written"`
	Secrets           map[string]string      `yaml:"secrets" doc:"environment variables from Secrets, as SECRET/KEY; the environment has to permit the Secret"`
	Services          []Service              `yaml:"services" doc:"containers beside the step, which reaches them on localhost"`
	PlacementProfiles []string               `yaml:"placement_profiles" doc:"names of the operator's placement profiles, merged in this order; none: the default profile"`
	Resources         *fragment.Resources    `yaml:"resources" doc:"what the step asks for, by name of the resource; or requests and limits apart"`
	K8sOverlay        *source.Node           `yaml:"k8s_overlay" doc:"pod-spec fragment, merged last; the environment has to permit the fields"`
	ServiceAccount    string                 `yaml:"service_account" doc:"service account of the pod, with its token; the environment has to permit it"`
	Workspace         *bool                  `yaml:"workspace" doc:"whether the step has the run's shared volume; true if the run has one"`
	Pool              string                 `yaml:"pool" doc:"pool of the operator file whose slots bound how many such steps are active"`
	Priority          int                    `yaml:"priority" doc:"of steps that are ready, the one with the higher number starts first; 0 if absent"`
	Retry             *Retry                 `yaml:"retry" doc:"how often, and after which outcomes, the whole step is run again"`
	Timeout           source.Duration        `yaml:"timeout" doc:"how long the step may run, from the start of its container; 1h if absent"`
	ScheduleTimeout   source.Duration        `yaml:"schedule_timeout" doc:"how long it may wait for a node; 15m if absent"`
	ImageTimeout      source.Duration        `yaml:"image_timeout" doc:"how long it may wait for its image; 5m if absent"`
	AllowFailure      bool                   `yaml:"allow_failure" doc:"whether the run can succeed although this step failed"`
}

// Service is a container that runs beside the step, as long as the step does.
type Service struct {
	Name      string                 `yaml:"name,required" doc:"name of the container: a DNS label"`
	Image     string                 `yaml:"image,required" doc:"container image"`
	Command   []string               `yaml:"command" doc:"program with its first arguments, instead of the image's entrypoint"`
	Args      []string               `yaml:"args" doc:"arguments, instead of the image's"`
	Env       map[string]source.Text `yaml:"env" doc:"environment variables; numbers and booleans are taken as written"`
	Ready     *Ready                 `yaml:"ready" doc:"how to tell that the service is ready; the step starts after it"`
	Resources *fragment.Resources    `yaml:"resources" doc:"what the service asks for, as a step's resources"`
}

// Ready is how to tell that a service is ready. One of its fields is set.
type Ready struct {
	TCP  int      `yaml:"tcp" doc:"port that accepts a connection"`
	HTTP *HTTP    `yaml:"http" doc:"request that is answered with a status from 200 to 399"`
	Exec []string `yaml:"exec" doc:"command that ends with exit code 0"`
}

// HTTP is a request to a service.
type HTTP struct {
	Port int    `yaml:"port,required" doc:"port on localhost"`
	Path string `yaml:"path" doc:"path with its leading slash; / if absent"`
}

// Retry says how often, and after which outcomes, a step is run again.
type Retry struct {
	Max     int             `yaml:"max,required" doc:"how often the step may be run again: 1 to 10"`
	On      []RetryOn       `yaml:"on" doc:"classes of outcomes after which it is; all four if absent"`
	Backoff source.Duration `yaml:"backoff" doc:"wait before the first retry, doubled for each one after it; 10s if absent"`
}

// RetryOn is an outcome after which a step may be run again.
type RetryOn string

// Values gives the outcomes.
func (RetryOn) Values() []string { return []string{"failure", "oom", "timeout", "lost"} }

// oldNames has keys that people know from elsewhere, with what to write instead.
var oldNames = map[string]string{
	"runs_on": "write placement_profiles with names from berth profiles", "runs-on": "write placement_profiles with names from berth profiles",
	"nodeSelector": "name a placement profile; or, where the environment permits it, put it under k8s_overlay",
	"tolerations":  "the operator's baseline has them; name a placement profile; or, where permitted, put them under k8s_overlay",
	"affinity":     "name a placement profile; or, where the environment permits it, put it under k8s_overlay",
	"retries":      "write retry: {max: 2}", "retry_count": "write retry: {max: 2}", "attempts": "write retry: {max: 2}",
	"depends_on": "write needs", "dependencies": "write needs",
	"script": "write run, a single string: one command per line after run: |", "commands": "write run, a single string: one command per line after run: |",
	"cpu_millis": `write resources: {cpu: "2", memory: 4Gi}`, "memory_mb": `write resources: {cpu: "2", memory: 4Gi}`,
	"cpu": `write resources: {cpu: "2", memory: 4Gi}`, "memory": `write resources: {cpu: "2", memory: 4Gi}`,
	"container": "write image", "uses": "Berth has no actions: write run or command",
	"when": "write if, a CEL expression", "only": "write if, a CEL expression", "condition": "write if, a CEL expression",
	"environment": "it belongs to the pipeline, not to a step; variables are env", "variables": "write env", "with": "write env",
	"timeout_minutes": "write timeout, such as 30m", "timeout-minutes": "write timeout, such as 30m", "timeout_seconds": "write timeout, such as 90s",
	"continue-on-error": "write allow_failure", "continue_on_error": "write allow_failure",
	"working-directory": "write working_dir", "workdir": "write working_dir", "serviceAccountName": "write service_account",
	"labels": "put them under k8s_overlay, where the environment permits it", "annotations": "put them under k8s_overlay, where the environment permits it",
	"profiles": "write placement_profiles", "profile": "write placement_profiles, a list", "placement_profile": "write placement_profiles, a list",
	"strategy": "write matrix beside the step's other keys", "queue": "write pool", "tags": "write placement_profiles with names from berth profiles",
	"template": "Berth has no templates: what every step needs goes under defaults", "volumes": "write workspace for the pipeline; or, where permitted, k8s_overlay",
	"sidecars": "write services",
}

// Hints says what to write instead of a key that other systems have.
func (Step) Hints() map[string]string { return oldNames }

// Hints says what belongs to a step alone.
func (Common) Hints() map[string]string {
	own := "it is a step's own: write it in each step that it is meant for"
	return with(oldNames, map[string]string{"name": own, "needs": own, "if": own, "matrix": own, "run": own, "command": own, "args": own, "outputs": own})
}

// Hints says what a service has not.
func (Service) Hints() map[string]string {
	return map[string]string{"ports": "a service is reached on localhost, at whatever port it listens on",
		"run": "write command, such as [/bin/sh, -c, ...]", "alias": "a service is reached on localhost, not by a name",
		"placement_profiles": "a service runs in the step's pod: write it for the step", "k8s_overlay": "write it for the step",
		"secrets":        "a service takes no Secrets: give them to the step, or, where permitted, write an env entry for this container in k8s_overlay",
		"readinessProbe": "write ready", "startupProbe": "write ready", "health": "write ready", "options": "write ready"}
}
