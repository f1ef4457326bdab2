// Package govern says who may have what: whether a compiled run may exist, under an operator file, for
// whoever asks.
//
// It promises:
//   - A request carries no authority. What a file says of itself, its name included, grants nothing; what is
//     not permitted by name is refused, and so is what names nothing or can't be understood.
//   - All that is wrong is reported at once, where it was written. Only to those who may not target the
//     environment nothing is said of what it permits.
//   - Permits look at what the author wrote. What operators write into their layers needs none, and neither
//     does what Kubernetes adds by itself.
//   - k8s_overlay: true is every field, and no Secret, service account, token or claim. References to them are
//     found in untyped values, so that a field which is newer than Berth's Kubernetes types is no way around.
//   - What the operator's layers refer to stays theirs: an overlay that mounts their volume, or puts its own
//     image into their container, needs the permit for what it gets at.
//   - Sums, limits and pod security are Kubernetes' own computations on the final pod.
//
// A Request is the part of it that is decided again when an attempt starts: a plain value, which needs no
// file to be judged by the operator file then in force.
package govern
