// Package plan turns a pipeline and an operator file into what a run will do: a graph of steps, each with
// everything that its executor needs and with the pod that it runs in.
//
// It promises:
//   - A plan is made once, when the run is admitted, and is the same for all attempts of its steps. It is
//     a value: Make shares nothing with what it was made of, and nothing writes to a plan.
//   - Whatever a step says is in the plan, and what is about the pod is in the pod.
//   - Two equal plans have the same Hash, on every machine and after having been stored.
//   - Either there is a plan, or there are findings that say everything that stands against it: what is
//     invalid in the file, or else everything that the operator's rules refuse.
//
// The pod is composed from all layers (layers.go). What is only known when a step starts, such as outputs
// of other steps, or the number of the attempt, stands in it as it was written, and Pod.Late lists where.
package plan
