package reason

// All is every reason, in the order in which the reference lists them.
var All = []Reason{
	{Needs, Waiting, "needs other steps", "Steps that it needs have not ended. Nothing to do."},
	{RunsLimit, Waiting, "as many runs are active as may be", "The operator's limits.active_runs bounds how many runs are active at once. It starts when one of them has ended."},
	{StepsLimit, Waiting, "as many steps are active as may be", "The operator's limits.active_steps bounds how many steps of all runs are active at once."},
	{RunLimit, Waiting, "the run has as many active steps as it may", "The pipeline's max_active_steps bounds how many of its steps are active at once."},
	{PoolFull, Waiting, "the pool is full", "All slots of the step's pool are held by steps of this or other runs. The number says how many are ahead of it."},
	{WorkspaceApart, Waiting, "the workspace is on another node", "The run's workspace can be on one node at a time, and the step's placement allows none of the nodes that a step which runs now may be on. It starts when that one has ended. With workspace: false it would not wait."},
	{Backoff, Waiting, "waits before it tries again", "An attempt ended in a way that is tried again; the wait doubles each time."},
	{PreviousNotGone, Waiting, "the attempt before it is not gone", "The next attempt starts when the object of the one before is proven gone, so that no two of them ever run at once."},

	{Requesting, Waiting, "asked for", "The attempt was asked for, and there is no answer yet."},
	{Overloaded, Waiting, "the API server asks to wait", "The API server is overloaded or can't be reached. The request is repeated, with growing pauses."},
	{QuotaExceeded, Waiting, "the namespace's quota is used up", "A ResourceQuota of the namespace leaves no room now. One step asks again from time to time; the others follow when it gets through. No attempt is spent."},
	{WorkspaceWait, Waiting, "the workspace's volume is not there yet", "The claim of the run's workspace could not be created yet."},
	{Gated, Waiting, "a scheduling gate holds it", "Someone other than Berth has put a scheduling gate on the pod. It waits as long as that takes."},
	{Unscheduled, Waiting, "the scheduler has not looked at it yet", "The pod exists, and the scheduler has said nothing of it."},
	{Unschedulable, Waiting, "no node takes it now", "The scheduler's own words say why. An autoscaler may add a node; schedule_timeout bounds the wait."},
	{ImagePull, Waiting, "the image is not there yet", "The image can't be pulled now. image_timeout bounds the wait, since an image may be pushed late."},
	{ContainerConfig, Waiting, "something that the container refers to is missing", "A Secret or ConfigMap that the pod names does not exist, or lacks the key."},
	{Volumes, Waiting, "its volumes are not mounted yet", "The node is attaching or mounting volumes."},
	{Initializing, Waiting, "containers that come first have not finished", "Init containers run, or a service is not ready yet."},
	{Starting, Waiting, "its container is being created", "The node has the pod and is starting its container."},
	{NodeSilent, Waiting, "its node says nothing", "The node has stopped reporting. After node_lost_timeout the attempt counts as lost."},

	{Completed, Ending, "succeeded", "The step's container ended with exit code 0."},
	{ExitCode, Ending, "failed by its exit code", "The step's own command ended with an exit code other than 0; its log says why."},
	{StartError, Ending, "its command could not be started", "The container runtime could not start the command: it does not exist in the image, or may not be executed."},
	{OOMKilled, Ending, "killed for its memory", "The container needed more memory than its limit. That counts even if its exit code was 0, since something in it was killed."},
	{StepTimeout, Ending, "ran past its timeout", "The step ran longer than its timeout."},
	{RunTimeout, Ending, "the run took longer than its timeout", "The pipeline's timeout bounds the time from the run's admission."},
	{ScheduleTimeout, Ending, "no node took it in time", "The scheduler found no node within schedule_timeout. Its last words are in the message."},
	{ImageTimeout, Ending, "its image did not come in time", "The image could not be pulled within image_timeout."},
	{ConfigTimeout, Ending, "what its container refers to did not come in time", "A Secret or ConfigMap that the pod names was not there within 2 minutes."},
	{DeadlineExceeded, Ending, "the pod's own deadline ended it", "activeDeadlineSeconds, the backstop for when Berth is not there to end the step, ended it."},
	{ImageInvalid, Ending, "its image's name is invalid", "The node says that the image can't be a valid reference. Waiting does not mend that."},
	{PodInvalid, Ending, "the API server does not accept the pod", "The API server's words say what is invalid."},
	{PodForbidden, Ending, "the cluster's policy forbids the pod", "Admission or authorisation refused the pod; the API server's words say what did."},
	{QuotaTooSmall, Ending, "asks for more than the quota's total", "The step asks for more than a ResourceQuota allows the whole namespace. It would wait for ever."},
	{FieldDropped, Ending, "the API server did not store a field", "A field of the pod was dropped without a word, as happens when its feature gate is off. What was written would not take effect, so the pod was deleted."},
	{NameTaken, Ending, "someone else's pod has the attempt's name", "A pod of this name exists and is not Berth's, or not this instance's. It was left alone."},
	{KubeletRefused, Ending, "the node refused the pod", "The node did not admit the pod, since it had no room for it or is not fit for it."},
	{InitFailed, Ending, "a container that comes first failed", "An init container ended with an error, so that the step never started."},
	{ServiceFailed, Ending, "a service failed before the step", "A service of the step ended, or did not become ready, before the step could start."},
	{Evicted, Ending, "evicted by its node", "The node ran out of memory or disk, or the pod went over a limit of its own. Whatever its exit code says, it was ended from outside."},
	{Preempted, Ending, "preempted", "The scheduler removed it to make room for a pod of higher priority."},
	{DeletedByTaint, Ending, "removed from a tainted node", "Its node got a taint that the pod does not tolerate, as happens when a node stops answering."},
	{EvictionAPI, Ending, "evicted on request", "Someone asked for its eviction, as draining a node does."},
	{PodGC, Ending, "removed by the cluster's pod garbage collector", "The cluster removed it, since its node is gone or too many ended pods were kept."},
	{NodeShutdown, Ending, "its node was shut down", "The node ended it, since it was shutting down."},
	{NodeLost, Ending, "its node is lost", "The node said nothing for node_lost_timeout. Whether the step still runs there is not known."},
	{DeletedByOthers, Ending, "deleted by someone else", "Someone other than Berth deleted its pod. Even with exit code 0 it was asked to stop before it had ended."},
	{Vanished, Ending, "gone without a trace", "Its object does not exist, and nobody saw how it ended."},
	{OutputsMissing, Ending, "a declared output is missing", "The step succeeded, and did not write an output that it declares."},
	{OutputsInvalid, Ending, "its outputs can't be read", "A line of $BERTH_OUTPUT is no NAME=VALUE, or names an output that is not declared."},
	{OutputsTooLarge, Ending, "its outputs are too large", "What the step wrote to $BERTH_OUTPUT reaches the bound, so that the beginning may be missing."},
	{ConditionFalse, Ending, "its condition does not hold", "The step's if is false, or something that it needs did not succeed."},
	{ConditionFailed, Ending, "its condition can't be evaluated", "The expression in if has an error for these values."},
	{ExpressionFailed, Ending, "an expression can't be evaluated", "An expression of the step has an error for these values."},
	{PermitWithdrawn, Ending, "not permitted any more", "The operator file has changed since the run was admitted, and does not permit what the step asks for."},
	{PoolUnknown, Ending, "its pool does not exist any more", "The operator file has changed since the run was admitted, and does not have the step's pool."},
	{CancelledByPerson, Ending, "cancelled", "Someone cancelled the run."},
	{StepFailed, Ending, "a step failed", "At least one step failed that may not."},
	{LocalUnsupported, Ending, "the local executor can't do this", "The step asks for something that only a cluster has."},
	{LocalStartFailed, Ending, "its process could not be started", "This machine could not start the step's command."},
	{ExecutorRestarted, Ending, "berth was restarted", "The processes of the local executor ended with the berth that had started them."},
}

// Of gives what is known of a code, and whether it is registered.
func Of(code Code) (Reason, bool) {
	for _, r := range All {
		if r.Code == code {
			return r, true
		}
	}
	return Reason{Code: code}, false
}
