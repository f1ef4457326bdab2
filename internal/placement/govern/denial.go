package govern

import (
	"strconv"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// Denial is something that a step asks for and is not permitted.
type Denial struct {
	Code    finding.Code
	Key     string         // of the step, where it is asked for; empty if the whole run's
	Entry   string         // of a list or map below the key: the name that is denied
	Path    placement.Path // in the overlay, if that is what asks
	Message string
	Fix     string
}

// Finding is the denial as an error without a position, for whoever has no file at hand.
func (d Denial) Finding() finding.Finding {
	path := d.Key
	if len(d.Path) > 0 {
		path = source.Join(path, d.Path.String())
	}
	return finding.Finding{Code: d.Code, Severity: finding.Error, Path: path, Message: d.Message, Fix: d.Fix}
}

// locate gives the denial as findings at each place where the step asks for it.
func (s *Step) locate(d Denial) []finding.Finding {
	at := s.Instance.At(d.Key)
	var found []finding.Finding
	add := func(p pipeline.Place) { found = append(found, p.Fault(d.Code, d.Fix, "%s", d.Message)) }
	switch d.Key {
	case "placement_profiles":
		for i, name := range s.Instance.PlacementProfiles {
			if name == d.Entry {
				add(at.Item(i))
			}
		}
	case "secrets":
		for _, variable := range sortedKeys(s.Instance.Secrets) {
			if s.Instance.Secrets[variable].Secret == d.Entry {
				add(at.Below(variable))
			}
		}
	case "k8s_overlay":
		return []finding.Finding{s.inOverlay(d.Path, at.Fault(d.Code, d.Fix, "%s", d.Message))}
	default:
		add(at)
	}
	return found
}

// inOverlay moves a finding to a path of the overlay.
func (s *Step) inOverlay(path placement.Path, f finding.Finding) finding.Finding {
	if len(path) == 0 {
		return f
	}
	f.Path = source.Join(f.Path, path.String())
	if file, line, column := s.Instance.Overlay.Locate(path); line > 0 {
		f.File, f.Line, f.Column = file, line, column
	}
	return f
}

func quoted(name string) string { return strconv.Quote(name) }
