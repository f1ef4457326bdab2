package run

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/reason"
)

// outputs holds an end against the outputs that the step declares. Only a success can fail by them.
func outputs(declared []string, end *End, o Outcome) Outcome {
	if o.Class != Success {
		return o
	}
	bad := func(code reason.Code, message string) Outcome {
		return Outcome{Class: Failure, Reason: code, Message: message, ExitCode: o.ExitCode}
	}
	if end.Cut {
		return bad(reason.OutputsTooLarge, "it wrote more to $BERTH_OUTPUT than is kept, so that the beginning is missing")
	}
	found := map[string]bool{}
	for _, line := range outputLines(end.Output) {
		name, _, ok := strings.Cut(line, "=")
		switch {
		case !ok:
			return bad(reason.OutputsInvalid, "a line of $BERTH_OUTPUT is no NAME=VALUE: "+finding.Clip(line, 60))
		case !slices.Contains(declared, name):
			return bad(reason.OutputsInvalid, "it wrote the output "+finding.Clip(name, 60)+", which its outputs do not declare")
		}
		found[name] = true
	}
	for _, name := range declared {
		if !found[name] {
			return bad(reason.OutputsMissing, "it did not write its output "+name+" to $BERTH_OUTPUT")
		}
	}
	return o
}

// parsed is what can be read of the declared outputs. Of several lines for one, the last counts.
func parsed(declared []string, end *End) map[string]string {
	var out map[string]string
	if end.Cut {
		return nil
	}
	for _, line := range outputLines(end.Output) {
		name, value, ok := strings.Cut(line, "=")
		if ok && slices.Contains(declared, name) {
			if out == nil {
				out = map[string]string{}
			}
			out[name] = value
		}
	}
	return out
}

func outputLines(text string) []string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			all = append(all, line)
		}
	}
	return all
}
