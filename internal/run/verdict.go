package run

import (
	"time"

	"github.com/berthdev/berth/internal/reason"
)

// verdict is how an attempt has ended: what its object says, and what only the state knows, which is whether
// Berth or someone else wanted it to end.
func (m *machine) verdict(i int, o Observation) Outcome {
	a := m.s.Steps[i].Attempt
	switch {
	case o.End == nil && o.Refused != nil && a.Stop == nil:
		return *o.Refused
	case o.End == nil:
		return unseen(a)
	}
	end := o.End.Outcome
	own := end.Class == Success || end.Class == Failure
	switch {
	case own && a.Foreign && !a.DeletionAt.After(o.End.FinishedAt):
		end.Class, end.Reason = Lost, reason.DeletedByOthers
		end.Message = "someone else deleted it while it ran" + exited(end.ExitCode)
		return end
	case own && a.Stop != nil && !m.stands(i, a, o.End.FinishedAt):
		out := stopped(a)
		out.ExitCode = end.ExitCode
		return out
	case (end.Class == NeverStarted || end.Class == Lost) && a.Stop != nil:
		return stopped(a)
	}
	return outputs(m.plan.Steps[i].Outputs, o.End, end)
}

func exited(code *int) string {
	if code == nil {
		return ""
	}
	return ", and it ended with exit code " + itoa(*code)
}

// stands says whether an end is the step's own although Berth had decided to end it. Kubernetes gives times in
// whole seconds: an end in the second in which the timeout was over came after Berth's signal.
func (m *machine) stands(i int, a *Attempt, finished time.Time) bool {
	if a.Stop.Class == Timeout {
		return finished.Sub(a.StartedAt) < time.Duration(m.plan.Steps[i].Timeout)
	}
	return a.DeletionAt.IsZero() || finished.Before(a.DeletionAt)
}

// stopped is the outcome of an attempt that Berth has ended.
func stopped(a *Attempt) Outcome {
	out := Outcome{Class: a.Stop.Class, Reason: a.Stop.Reason, Message: a.Stop.Message}
	if out.Class == NeverStarted && !a.StartedAt.IsZero() {
		out.Class = Lost
		out.Message += "; it had started in the meantime"
	}
	return out
}

// unseen is the outcome of an attempt whose object is gone, and whose end nobody saw.
func unseen(a *Attempt) Outcome {
	switch {
	case a.Stop != nil:
		return stopped(a)
	case a.StartedAt.IsZero() && a.ID == "":
		return Outcome{Class: NeverStarted, Reason: reason.Vanished, Message: "it does not exist, and nobody saw it"}
	case a.StartedAt.IsZero():
		return Outcome{Class: NeverStarted, Reason: reason.DeletedByOthers, Message: "someone else deleted it before its container had started"}
	case !a.DeletionAt.IsZero():
		return Outcome{Class: Lost, Reason: reason.DeletedByOthers, Message: "someone else deleted it while it ran"}
	}
	return Outcome{Class: Lost, Reason: reason.Vanished, Message: "it is gone, and nobody saw how it ended"}
}
