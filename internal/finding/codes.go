package finding

import (
	"maps"
	"slices"
)

// Code names a kind of finding, for programs and for looking it up. It never changes its meaning.
type Code string

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

// titles registers each code with what it is about, in a few words.
var titles = map[Code]string{
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
}

// Title says in a few words what findings with this code are about; "" if it is not registered.
func (c Code) Title() string { return titles[c] }

// Codes gives all registered codes, sorted.
func Codes() []Code { return slices.Sorted(maps.Keys(titles)) }
