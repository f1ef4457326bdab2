package sentence

import (
	observer "github.com/berthdev/berth/api/observer/v1"
)

func (w *writer) coverage(c *observer.Coverage) {
	w.line("berth-observer %s, since %s", c.Version, c.Since.Format("2006-01-02 15:04:05 MST"))
	w.line("")
	w.line("sees %s on %s; says %s with %s", plural(c.PodsSeen, "pod"), plural(c.Nodes, "node"), plural(c.Records, "record"), plural(c.Variants, "variant")+" of placement")
	if len(c.PodsExcluded) > 0 {
		w.line("leaves out pods: %s", counted(c.PodsExcluded, "%d by %s"))
	}
	if c.OwnersUnresolved > 0 {
		w.line("could not read an owner of %s", plural(c.OwnersUnresolved, "pod"))
	}
	if c.NamespaceOptOut == observer.OptOutNotEvaluated {
		w.line("! can't read namespaces: one that asked not to be observed is told nevertheless")
	}
	for _, s := range c.Sources {
		switch {
		case s.Failing != "" && s.Synced:
			w.line("! %s: not seen since %s (%s); what is said of them is from before", s.Resource, s.FailingSince.Format("15:04:05 MST"), s.Failing)
		case s.Failing != "":
			w.line("! %s: never seen (%s); nothing said of them does not mean that there are none", s.Resource, s.Failing)
		case !s.Synced:
			w.line("! %s: not all seen yet", s.Resource)
		case s.Interruptions > 0:
			w.line("%s: seen, with %s since the start", s.Resource, plural(s.Interruptions, "interruption"))
		}
	}
	if n := c.PlacementValuesDropped + c.PlacementTermsDropped + c.NodesValuesDropped; n > 0 {
		w.line("! left out past bounds: %s, %s of records, %s of nodes", plural(c.PlacementValuesDropped, "value"), plural(c.PlacementTermsDropped, "whole list"), plural(c.NodesValuesDropped, "value"))
	}
	if len(c.Errors) > 0 {
		w.line("! failed since the start: %s", counted(c.Errors, "%d times %s"))
	}
}
