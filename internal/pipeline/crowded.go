package pipeline

import "github.com/berthdev/berth/internal/finding"

// How many entries a list or map may have. Much of what is done with one looks at each entry for each
// other, so this is what keeps the time that a file takes in proportion to its size.
const (
	mostEntries        = 500 // of any
	mostOverlayEntries = 200 // in a k8s_overlay
	mostNamed          = 100 // secrets, services and placement_profiles of a step
	mostParams         = 200
	longestPattern     = 200 // characters
)

// crowded refuses lists and maps with too many entries, before anything else is done with them.
func (c *checker) crowded(at Place) {
	if len(at.Node.Fields) > mostEntries {
		c.many(at, len(at.Node.Fields), mostEntries)
		return
	}
	for _, f := range at.Node.Fields {
		below := at.Below(f.Name)
		switch f.Name {
		case "steps":
			c.entries(below, MostSteps, mostEntries)
		case "params":
			c.entries(below, mostParams, mostEntries)
			c.patterns(below)
		default:
			c.entries(below, mostEntries, mostEntries)
		}
	}
}

// entries holds the place to a bound, and what is below it to another.
func (c *checker) entries(at Place, most, below int) {
	if n := len(at.Node.Items) + len(at.Node.Fields); n > most {
		c.many(at, n, most)
		return
	}
	for i := range at.Node.Items {
		c.entries(at.Item(i), below, below)
	}
	for _, f := range at.Node.Fields {
		switch f.Name {
		case "k8s_overlay":
			c.entries(at.Below(f.Name), mostOverlayEntries, mostOverlayEntries)
		case "secrets", "services", "placement_profiles":
			c.entries(at.Below(f.Name), min(below, mostNamed), below)
		default:
			c.entries(at.Below(f.Name), below, below)
		}
	}
}

func (c *checker) many(at Place, n, most int) {
	what := at.Path
	if what == "" {
		what = "the file"
	}
	c.fault(at, finding.TooLarge, "write fewer, or split the pipeline", "%s has %d entries, and %d are the most", what, n, most)
}

// patterns bounds regular expressions, which are compiled before they are used.
func (c *checker) patterns(at Place) {
	for _, f := range at.Node.Fields {
		if p := at.Below(f.Name).Below("pattern"); p.Node != nil && len(p.Node.Text) > longestPattern {
			c.fault(p, finding.TooLarge, "write a shorter one", "the pattern has %d characters, and %d are the most", len(p.Node.Text), longestPattern)
		}
	}
}
