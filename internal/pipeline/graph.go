package pipeline

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
)

// graph checks what steps need: names that are there, each once, and no cycle.
func (c *checker) graph() {
	for i := range c.file.steps {
		s := &c.file.steps[i]
		for j, need := range s.Needs {
			at := s.at("needs").Item(j)
			switch _, known := c.index[need]; {
			case need == "" || expression.Has(need): // which has been said
			case !known:
				c.fault(at, finding.NeedUnknown, finding.DidYouMean(need, c.names, "there are: "+some(c.names)),
					"%s needs %s, and there is no such step", s.Name, need)
			case slices.Contains(s.Needs[:j], need):
				c.fault(at, finding.KeyTwice, "write it once", "%s needs %s twice", s.Name, need)
			}
		}
	}
	c.cycles()
}

// cycles reports each cycle once, at the step of it that comes first in the file.
func (c *checker) cycles() {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(c.file.steps))
	var path []int
	var visit func(i int)
	visit = func(i int) {
		state[i] = open
		path = append(path, i)
		for j, need := range c.file.steps[i].Needs {
			next, ok := c.index[need]
			switch {
			case !ok || state[next] == done:
			case state[next] == open:
				cycle := path[slices.Index(path, next):]
				c.cycle(cycle, c.file.steps[i].at("needs").Item(j))
			default:
				visit(next)
			}
		}
		path = path[:len(path)-1]
		state[i] = done
	}
	for i := range c.file.steps {
		if state[i] == unseen {
			visit(i)
		}
	}
}

func (c *checker) cycle(steps []int, at Place) {
	names := make([]string, 0, len(steps)+1)
	for _, i := range steps {
		names = append(names, c.file.steps[i].Name)
	}
	names = append(names, names[0])
	c.fault(at, finding.NeedsCycle, "remove one of these needs", "the steps need each other in a circle: %s", strings.Join(names, " needs "))
}

// some names the first of many words.
func some(words []string) string {
	const most = 20
	if len(words) > most {
		return strings.Join(words[:most], ", ") + " and more"
	}
	return strings.Join(words, ", ")
}
