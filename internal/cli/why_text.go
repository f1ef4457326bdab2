package cli

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/reason"
)

// constraintItem is a constraint for people: what, who, and where to change it.
func constraintItem(c explain.Constraint) whyItem {
	i := whyItem{Mark: string(c.Code), Text: c.Message}
	i.Lines = append(i.Lines, fromText(c))
	for _, note := range c.Notes {
		i.Lines = append(i.Lines, "note: "+note)
	}
	return i
}

// fromText says where a constraint comes from and who is behind it.
func fromText(c explain.Constraint) string {
	from := sourceText(c.Source)
	switch who := string(c.Actor); {
	case strings.HasPrefix(who, "berth:"):
		return fmt.Sprintf("set by Berth's layer %s: %s", strings.TrimPrefix(who, "berth:"), from)
	case c.Actor == explain.Injected:
		return "injected, its template does not have it: " + from
	case c.Actor == explain.Controller:
		return "set by a controller: " + from
	}
	return from
}

// sourceText is an object and a field of it.
func sourceText(s explain.Source) string {
	object := strings.ToLower(s.Kind)
	if s.Name != "" {
		object = s.Ref.String()
	}
	return strings.TrimSpace(object + " " + s.Path)
}

// ofHardness are the constraints that stop, or those that do not.
func ofHardness(all []explain.Constraint, h reason.Hardness) []explain.Constraint {
	var some []explain.Constraint
	for _, c := range all {
		if c.Hardness == h {
			some = append(some, c)
		}
	}
	return some
}

// unknownSection is never left out: what is not known is the first thing to doubt an answer for.
func unknownSection(all []explain.Unread) whySection {
	s := whySection{Title: "Not known"}
	var whys []string
	what := map[string][]string{}
	for _, u := range all {
		if what[u.Why] == nil {
			whys = append(whys, u.Why)
		}
		what[u.Why] = append(what[u.Why], u.What)
	}
	for _, why := range whys {
		s.Items = append(s.Items, whyItem{Text: strings.Join(what[why], ", ") + ": " + why})
	}
	return s
}

func enginesText(engines []reason.Engine) string {
	names := make([]string, len(engines))
	for i, e := range engines {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}

// constraintRecord is a constraint as columns.
func constraintRecord(c explain.Constraint) []string {
	return []string{string(c.Code), string(c.Hardness), string(c.Scope), string(c.Actor), enginesText(c.Engines),
		c.Source.Kind, c.Source.Namespace, c.Source.Name, c.Source.Path, c.Message}
}

var constraintHeader = []string{"code", "hardness", "scope", "actor", "engines", "source_kind", "source_namespace", "source_name", "source_path", "message"}
