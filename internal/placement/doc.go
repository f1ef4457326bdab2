// Package placement composes the layers of rules that say where and how a step's pod runs: fragments
// of a pod spec, merged into one, with the origin of every value.
//
// It promises:
//   - A fragment is opaque. Fields that Kubernetes got after this code was written merge like
//     others: objects recursively, lists and scalars replaced. keys.go has the lists that don't.
//   - The lowest layer comes first, and a later one wins, except where losing would be the fault:
//     tolerations are united, and required node affinity still demands all that any layer demanded.
//   - Nothing is lost without a trace. Each value knows the layers that set it, the rule that
//     applied, and the layers that it beat with their values; so does what was removed.
//   - Only k8s_overlay removes. A null or a directive in any other layer is an error and does nothing.
//   - All findings are reported at once. If one of them is an error, the fragment is not to be used.
//   - Composing is a function: it writes to no argument, shares nothing with them, and gives the
//     same result for the same layers, whatever the order of Go's maps.
//
// Values are those of decoded YAML or JSON: map[string]any, []any, string, bool, nil and numbers,
// which are compared by what they are worth and come out as int64 or float64. The keys labels and
// annotations, which belong to a pod's metadata, are part of a fragment.
package placement
