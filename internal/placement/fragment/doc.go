// Package fragment reads a pod-spec fragment as it is written in a file: the baseline's k8s, a
// profile's k8s, a step's k8s_overlay.
//
// It promises:
//   - The Kubernetes types decide, by reflection: which fields there are at every depth, and of what
//     kind each is. There is no table of fields here that could fall behind them.
//   - A field that they don't have is an error for an author, and a warning for the operator, whose
//     cluster may be newer. What is below it is passed on as it is.
//   - No coercion: a number, a boolean or a null where Kubernetes wants a string is an error that
//     says how to quote it.
//   - What Berth keeps for itself can be neither set nor removed, and neither can the container step.
//   - An expression that is not known yet is held to nothing but its place; the fragment is read
//     again when it is.
//   - All findings are reported at once, each mistake once: what is refused here is passed on as if it
//     had been put right or left out, so that composing has no more to say of it. What only composing
//     can judge (null and $patch, items without their key) is left to it.
//   - Values are those that package placement composes; no text makes Read or Compose panic.
package fragment
