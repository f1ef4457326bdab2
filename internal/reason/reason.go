package reason

// Code names a reason.
type Code string

// Kind says what a reason is a reason for.
type Kind string

const (
	Waiting Kind = "waiting" // why something has not started
	Ending  Kind = "ending"  // why an attempt, a step or a run ended as it did
)

// Reason is what is known of a code.
type Reason struct {
	Code  Code
	Kind  Kind
	Title string // a few words
	Help  string // what it means and what to do, in a sentence or two
}

// Why a run or a step has not started.
const (
	Needs           Code = "needs"
	RunsLimit       Code = "runs_limit"
	StepsLimit      Code = "steps_limit"
	RunLimit        Code = "run_limit"
	PoolFull        Code = "pool_full"
	WorkspaceApart  Code = "workspace_apart"
	Backoff         Code = "backoff"
	PreviousNotGone Code = "previous_not_gone"
)

// Why an attempt has not started.
const (
	Requesting      Code = "requesting"
	Overloaded      Code = "overloaded"
	QuotaExceeded   Code = "quota_exceeded"
	WorkspaceWait   Code = "workspace_pending"
	Gated           Code = "scheduling_gate"
	Unscheduled     Code = "unscheduled"
	Unschedulable   Code = "unschedulable"
	ImagePull       Code = "image_pull"
	ContainerConfig Code = "container_config"
	Volumes         Code = "volumes"
	Initializing    Code = "initializing"
	Starting        Code = "starting"
	NodeSilent      Code = "node_silent"
)

// Why an attempt, a step or a run ended as it did.
const (
	Completed         Code = "completed"
	ExitCode          Code = "exit_code"
	StartError        Code = "start_error"
	OOMKilled         Code = "oom_killed"
	StepTimeout       Code = "timeout"
	RunTimeout        Code = "run_timeout"
	ScheduleTimeout   Code = "schedule_timeout"
	ImageTimeout      Code = "image_timeout"
	ConfigTimeout     Code = "config_timeout"
	DeadlineExceeded  Code = "deadline_exceeded"
	ImageInvalid      Code = "image_invalid"
	PodInvalid        Code = "pod_invalid"
	PodForbidden      Code = "pod_forbidden"
	QuotaTooSmall     Code = "quota_too_small"
	FieldDropped      Code = "field_dropped"
	NameTaken         Code = "name_taken"
	KubeletRefused    Code = "kubelet_refused"
	InitFailed        Code = "init_failed"
	ServiceFailed     Code = "service_failed"
	Evicted           Code = "evicted"
	Preempted         Code = "preempted"
	DeletedByTaint    Code = "deleted_by_taint_manager"
	EvictionAPI       Code = "evicted_by_api"
	PodGC             Code = "deleted_by_pod_gc"
	NodeShutdown      Code = "node_shutdown"
	NodeLost          Code = "node_lost"
	DeletedByOthers   Code = "deleted_by_others"
	Vanished          Code = "vanished"
	OutputsMissing    Code = "outputs_missing"
	OutputsInvalid    Code = "outputs_invalid"
	OutputsTooLarge   Code = "outputs_too_large"
	ConditionFalse    Code = "condition_false"
	ConditionFailed   Code = "condition_failed"
	ExpressionFailed  Code = "expression_failed"
	PermitWithdrawn   Code = "permit_withdrawn"
	PoolUnknown       Code = "pool_unknown"
	CancelledByPerson Code = "cancelled"
	StepFailed        Code = "step_failed"
	LocalUnsupported  Code = "local_unsupported"
	LocalStartFailed  Code = "local_start_failed"
	ExecutorRestarted Code = "executor_restarted"
)
