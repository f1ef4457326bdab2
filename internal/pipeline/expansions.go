package pipeline

import (
	"regexp"
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// expanded is what the kubelet would expand in command, args and env.
var expanded = regexp.MustCompile(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// references notes $(NAME) where Kubernetes would put the variable's value, and Berth does not: what an
// author writes means itself. In a script it is the shell's, and common.
func (c *checker) references(s *step) {
	names := slices.Concat(sortedKeys(s.Env), sortedKeys(s.Secrets))
	for _, t := range s.texts() {
		if t.use != late {
			continue
		}
		for _, m := range expanded.FindAllStringSubmatch(t.Node.Text, -1) {
			if slices.Contains(names, m[1]) {
				c.literal(t.Place, m[0])
			}
		}
	}
	c.overlayReferences(s.from["k8s_overlay"])
}

// overlayReferences looks at command, args and env of containers. subPathExpr is meant to be expanded, and is.
func (c *checker) overlayReferences(at Place) {
	for _, list := range []string{"containers", "initContainers"} {
		containers := at.Below(list)
		if containers.Node == nil {
			continue
		}
		for i := range containers.Node.Items {
			for _, field := range []string{"command", "args", "env"} {
				deep(containers.Item(i).Below(field), func(p Place) {
					if m := expanded.FindString(p.Node.Text); p.Node.Kind == source.String && m != "" {
						c.literal(p, m)
					}
				})
			}
		}
	}
}

func (c *checker) literal(at Place, reference string) {
	c.findings = append(c.findings, at.Found(finding.ReferenceLiteral, finding.Note,
		"to use the value, write a script with run, where the shell reads $NAME",
		"%s stays as it is: Berth keeps Kubernetes from expanding what a pipeline says", reference))
}
