package plan

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/fragment"
)

// step is what the plan says of a step beside its pod.
func step(i *pipeline.Instance) Step {
	s := Step{ID: i.ID, Name: i.Name, Step: i.Step, Needs: slices.Clone(i.Needs), If: i.If, Pool: i.Pool,
		Priority: i.Priority, AllowFailure: i.AllowFailure, Outputs: slices.Clone(i.Outputs),
		Timeout: Duration(i.Timeout), ScheduleTimeout: Duration(i.ScheduleTimeout), ImageTimeout: Duration(i.ImageTimeout),
		PlacementProfiles: slices.Clone(i.PlacementProfiles), Resources: resources(i.Resources), K8sOverlay: i.Overlay.Value,
		ServiceAccount: i.ServiceAccount, Secrets: maps.Clone(i.Secrets), Work: work(i)}
	if len(i.Combination) > 0 {
		s.Matrix = i.Combination.Map()
	}
	if i.Retry != nil {
		s.Retry = &Retry{Max: i.Retry.Max, On: slices.Clone(i.Retry.On), Backoff: Duration(i.Retry.Backoff)}
	}
	return s
}

func work(i *pipeline.Instance) Work {
	w := Work{Image: i.Image, Args: textList(i.Args), WorkingDir: i.WorkingDir, Env: textMap(i.Env), Workspace: i.Workspace}
	if i.Script != nil {
		for _, word := range append(slices.Clone(i.Shell), "-c") {
			w.Command = append(w.Command, Text{Text: word})
		}
		w.Command = append(w.Command, Text(*i.Script))
	} else {
		w.Command = textList(i.Command)
	}
	for _, s := range i.Services {
		w.Services = append(w.Services, Service{Name: s.Name, Image: s.Image, Command: textList(s.Command), Args: textList(s.Args),
			Env: textMap(s.Env), Ready: ready(s.Ready), Resources: resources(s.Resources)})
	}
	return w
}

func textList(all []pipeline.Value) []Text {
	var out []Text
	for _, v := range all {
		out = append(out, Text(v))
	}
	return out
}

func textMap(all map[string]pipeline.Value) map[string]Text {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]Text, len(all))
	for name, v := range all {
		out[name] = Text(v)
	}
	return out
}

func ready(r *pipeline.Ready) *Ready {
	if r == nil {
		return nil
	}
	out := &Ready{TCP: r.TCP, Exec: slices.Clone(r.Exec)}
	if r.HTTP != nil {
		out.HTTP = &HTTP{Port: r.HTTP.Port, Path: r.HTTP.Path}
	}
	return out
}

func resources(r *fragment.Resources) *Resources {
	if r == nil {
		return nil
	}
	return &Resources{Requests: maps.Clone(r.Requests), Limits: maps.Clone(r.Limits)}
}
