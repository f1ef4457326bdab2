package finding

import (
	"maps"
	"slices"
)

// Code names a kind of finding, for programs and for looking it up. It never changes its meaning.
type Code string

// Codes of reading a file.
const (
	YAMLInvalid      Code = "yaml_invalid"
	TooLarge         Code = "too_large"
	KeyTwice         Code = "key_twice"
	UnknownKey       Code = "unknown_key"
	KeyMissing       Code = "key_missing"
	WrongType        Code = "wrong_type"
	NotAString       Code = "not_a_string"
	NumberOutOfRange Code = "number_out_of_range"
	NumberAmbiguous  Code = "number_ambiguous"
	ValueInvalid     Code = "value_invalid"
	ValueUnknown     Code = "value_unknown"
	OtherFile        Code = "other_file"
)

// Codes of the pipeline file.
const (
	KeysExclusive    Code = "keys_exclusive"
	NoEffect         Code = "no_effect"
	NeedUnknown      Code = "need_unknown"
	NeedsCycle       Code = "needs_cycle"
	MatrixUnused     Code = "matrix_unused"
	ValueInScript    Code = "value_in_script"
	ParameterMissing Code = "parameter_missing"
	ParameterUnknown Code = "parameter_unknown"
	ParameterInvalid Code = "parameter_invalid"
	ReferenceLiteral Code = "reference_literal"
)

// Codes of placement: layers and how they are merged.
const (
	DirectiveUnknown    Code = "directive_unknown"
	DirectiveAtRoot     Code = "directive_at_root"
	DirectiveMisplaced  Code = "directive_misplaced"
	DeletionForbidden   Code = "deletion_forbidden"
	ItemWithoutKey      Code = "item_without_key"
	ItemNotObject       Code = "item_not_object"
	ItemTwice           Code = "item_twice"
	ShapeMismatch       Code = "shape_mismatch"
	AffinityMalformed   Code = "affinity_malformed"
	AffinityTooLarge    Code = "affinity_too_large"
	ProfileConflict     Code = "profile_conflict"
	LockedField         Code = "locked_field"
	PlacementImpossible Code = "placement_impossible"
)

// Codes of reading a fragment of a pod spec.
const (
	FragmentRoot        Code = "fragment_root"
	UnknownField        Code = "unknown_field"
	ReservedField       Code = "reserved_field"
	QuantityInvalid     Code = "quantity_invalid"
	ExpressionMisplaced Code = "expression_misplaced"
	ToleratesEverything Code = "tolerates_everything"
)

// Codes of the operator file.
const (
	NameInvalid         Code = "name_invalid"
	NameTwice           Code = "name_twice"
	PathInvalid         Code = "path_invalid"
	PathMatchesNothing  Code = "path_matches_nothing"
	PatternInvalid      Code = "pattern_invalid"
	ProfileUnknown      Code = "profile_unknown"
	DefaultProfileUnfit Code = "default_profile_unfit"
	PermitUnneeded      Code = "permit_unneeded"
	LockUnneeded        Code = "lock_unneeded"
	LockUnmatched       Code = "lock_unmatched"
	BaselineTwice       Code = "baseline_twice"
	RequestAboveLimit   Code = "request_above_limit"
)

// Codes of expressions.
const (
	ExpressionInvalid     Code = "expression_invalid"
	ExpressionType        Code = "expression_type"
	ExpressionUnknownName Code = "expression_unknown_name"
	ExpressionTooEarly    Code = "expression_too_early"
	ExpressionFailed      Code = "expression_failed"
)

// Codes of governance: who may have what.
const (
	EnvironmentUnknown      Code = "environment_unknown"
	EnvironmentNeeded       Code = "environment_needed"
	EnvironmentForbidden    Code = "environment_forbidden"
	OverlayForbidden        Code = "overlay_forbidden"
	ProfileForbidden        Code = "profile_forbidden"
	SecretForbidden         Code = "secret_forbidden"
	ServiceAccountForbidden Code = "service_account_forbidden"
	ClaimForbidden          Code = "claim_forbidden"
	TokenForbidden          Code = "token_forbidden"
	PoolUnknown             Code = "pool_unknown"
	AboveResourceLimits     Code = "above_resource_limits"
	ResourceLimitMissing    Code = "resource_limit_missing"
	BestEffort              Code = "best_effort"
	PodSecurityForbids      Code = "pod_security_forbids"
	PodMalformed            Code = "pod_malformed"
)

// Codes of checking an operator file against nodes and a cluster.
const (
	ProfileFitsNoNode Code = "profile_fits_no_node"
	NodeNotReady      Code = "node_not_ready"
	LabelMissing      Code = "label_missing"
	PodRefused        Code = "pod_refused"
	FieldDropped      Code = "field_dropped"
	FieldChanged      Code = "field_changed"
	ClusterWarning    Code = "cluster_warning"
)

// Of runs on this machine.
const (
	LocalUnsupported Code = "local_unsupported"
	LocalIgnores     Code = "local_ignores"
)

// titles registers each code with what it is about, in a few words.
var titles = map[Code]string{
	YAMLInvalid:      "a text that is not YAML 1.2, or uses what Berth does not read",
	TooLarge:         "more than a bound allows",
	KeyTwice:         "a key that occurs twice in a map",
	UnknownKey:       "a key that does nothing there",
	KeyMissing:       "a key that has to be there",
	WrongType:        "a value of another kind than its key takes",
	NotAString:       "a number, boolean or null where a string is wanted: quote it",
	NumberOutOfRange: "a number that is too large or too small",
	NumberAmbiguous:  "a number that readers of YAML read differently",
	ValueInvalid:     "a value that its key does not take",
	OtherFile:        "a file of another kind than is wanted there",
	ValueUnknown:     "a value that is none of those that its key takes",

	KeysExclusive:    "keys of which only one may be there",
	NoEffect:         "a key that has no effect beside what else is written",
	NeedUnknown:      "a step that is needed and not there",
	NeedsCycle:       "steps that need each other",
	MatrixUnused:     "a part of a matrix that changes nothing",
	ValueInScript:    "a script into which a value is printed that may carry shell syntax",
	ParameterMissing: "a required parameter that the run does not give",
	ParameterUnknown: "a parameter that the pipeline does not have",
	ReferenceLiteral: "$(NAME), which Kubernetes would expand and Berth keeps as it is",
	ParameterInvalid: "a parameter whose value its pattern does not match",

	DirectiveUnknown:    "a patch directive that Berth does not have",
	DirectiveAtRoot:     "a patch directive at the root of a fragment",
	DirectiveMisplaced:  "a patch directive or null where it has no meaning",
	DeletionForbidden:   "only k8s_overlay may remove what lower layers gave",
	ItemWithoutKey:      "an item of a keyed list lacks its key",
	ItemNotObject:       "an item of a keyed list is no object",
	ItemTwice:           "one layer has two items with the same key",
	ShapeMismatch:       "layers disagree whether a field is a value, a list or an object",
	AffinityMalformed:   "required node affinity that can't be understood",
	AffinityTooLarge:    "required node affinity with too many terms once combined",
	ProfileConflict:     "two profiles of one step set the same field to different values",
	LockedField:         "a field that the operator's baseline locks",
	PlacementImpossible: "no node can satisfy the placement, whatever its labels",

	FragmentRoot:        "a key that stands above a pod spec, in a fragment of one",
	UnknownField:        "a field of a pod that Berth's Kubernetes types don't have",
	ReservedField:       "what Berth keeps for itself in every pod",
	QuantityInvalid:     "a quantity that Kubernetes refuses, or takes for another than was meant",
	ExpressionMisplaced: "an expression where none is evaluated",
	ToleratesEverything: "a toleration of every taint",

	NameInvalid:         "a name that can't be one",
	NameTwice:           "a name that two things of one kind have",
	PathInvalid:         "a text that is no path to a field",
	PathMatchesNothing:  "a path that no field can ever have",
	PatternInvalid:      "a pattern that matches no name, or others than was meant",
	ProfileUnknown:      "a placement profile that the operator file does not have",
	DefaultProfileUnfit: "a default profile that is not the only one, or not free to all",
	PermitUnneeded:      "a permit for what is free to all",
	LockUnneeded:        "a lock that changes nothing, since another one holds all that it does",
	LockUnmatched:       "a lock on what the baseline does not set, and next to what it does",
	BaselineTwice:       "a value that the baseline sets twice, and differently",
	RequestAboveLimit:   "a request that is above its limit",

	ExpressionInvalid:     "an expression that is not CEL, or computes the name of what it reads",
	ExpressionType:        "an expression with values of types that don't fit",
	ExpressionUnknownName: "an expression with a name that stands for nothing",
	ExpressionTooEarly:    "an expression that uses what is not known where it stands",
	ExpressionFailed:      "an expression that could not be evaluated",

	EnvironmentUnknown:      "an environment that the operator file does not have",
	EnvironmentNeeded:       "what only a run that targets an environment may have",
	EnvironmentForbidden:    "an environment that whoever asks may not target",
	OverlayForbidden:        "a field that the environment does not let k8s_overlay touch",
	ProfileForbidden:        "a restricted placement profile that the environment does not permit",
	SecretForbidden:         "a Secret that the environment does not permit",
	ServiceAccountForbidden: "a service account that the environment does not permit",
	ClaimForbidden:          "a claim that the environment does not permit",
	TokenForbidden:          "a token or certificate of a service account that the environment does not permit",
	PoolUnknown:             "a pool that the operator file does not have",
	AboveResourceLimits:     "a pod that asks for more than the operator lets one have",
	ResourceLimitMissing:    "a container without a limit, where the operator bounds what a pod may use",
	BestEffort:              "a pod that asks for no cpu and no memory",
	PodSecurityForbids:      "a pod that the operator's pod security standard forbids",
	PodMalformed:            "a pod that is none to Kubernetes",

	ProfileFitsNoNode: "a placement profile whose pods no node can take",
	NodeNotReady:      "nodes that are not ready",
	LabelMissing:      "nodes in a file that lack a label which every real node has",
	PodRefused:        "a pod that the API server refuses",
	FieldDropped:      "a field that the API server leaves out without a word",
	FieldChanged:      "a field that the API server stores with another value",
	ClusterWarning:    "what the API server warns of",

	LocalUnsupported: "what only a cluster has, in a run on this machine",
	LocalIgnores:     "what has no effect in a run on this machine",
}

// Title says in a few words what findings with this code are about; "" if it is not registered.
func (c Code) Title() string { return titles[c] }

// Codes gives all registered codes, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(titles)) }
