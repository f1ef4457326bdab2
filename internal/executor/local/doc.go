// Package local carries attempts out as processes of this machine, for writing pipelines.
//
// It promises:
//   - Each attempt is a process group in a session of its own, with the environment that the step says and of
//     the caller's PATH, HOME and LANG only. Nothing in the step's texts is expanded but by the step's shell.
//   - An attempt is gone when no process of its groups is left. What ignores SIGTERM is killed after its
//     grace. What leaves its group by itself, as daemons do, is nobody's.
//   - An attempt's end is on the disk before it is reported. Processes do not outlive the berth that started
//     them, since nobody would read how they end: when that one ends, it kills them and records that they
//     are lost. Where it was killed itself, the next one kills what is left of each group whose first
//     process is provably the one that was recorded, and reports the attempt as lost.
//   - No connection is opened but to ask a step's own services whether they are ready, whatever KUBECONFIG
//     says. What only a cluster has is refused.
//
// An executor's folder has, for each run, RUN/workspace and RUN/STEP-ATTEMPT with log, output and record.json.
// One executor uses it at a time: who has the store's lease has the folder.
package local
