package plan

// Texts of Berth's own layer that are only known for a run or an attempt. They look like expressions,
// and stand in the pod until package podspec puts the facts in their place: it knows no others.
const (
	RunID       = "${{ run.id }}"   // ULID, in upper case
	RunName     = "${{ run.name }}" // the same in lower case, as names of objects have it
	Instance    = "${{ instance }}" // of the store that the run is in
	AttemptText = "${{ attempt }}"  // from 1
	FenceText   = "${{ fence }}"    // grows with every create of a pod of the step
)

// Labels and annotations of every pod.
const (
	LabelInstance  = "berth.dev/instance"
	LabelPipeline  = "berth.dev/pipeline"
	LabelRun       = "berth.dev/run"
	LabelStep      = "berth.dev/step" // ID
	LabelAttempt   = "berth.dev/attempt"
	LabelWorkspace = "berth.dev/workspace" // the run's id, on pods that have its volume

	AnnotationStep        = "berth.dev/step-name" // to people: test (amd64)
	AnnotationEnvironment = "berth.dev/environment"
	AnnotationFence       = "berth.dev/fence"
	AnnotationPlacement   = "berth.dev/placement"         // each layer with the paths that it set, see placementNote
	AnnotationOperator    = "berth.dev/operator-revision" // SHA-256 of the operator file
)

// StepContainer is the name of the step's own container.
const StepContainer = "step"

const (
	workspaceVolume = "berth-workspace"
	workspaceMount  = "/workspace"
	outputFile      = "/dev/termination-log"
)

// ClaimName is the name of the PersistentVolumeClaim of the run's workspace, of run.name.
const ClaimName = "berth-" + RunName
