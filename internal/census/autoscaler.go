package census

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain"
)

// status reads the sizes of node groups from the ConfigMap in which the cluster autoscaler says how it is.
// Other ConfigMaps are not kept.
func (c *Census) status(m *corev1.ConfigMap) {
	if m.Name != "cluster-autoscaler-status" {
		return
	}
	text := m.Data["status"]
	if groups := structured(text); groups != nil {
		c.facts.Groups = append(c.facts.Groups, groups...)
		return
	}
	c.facts.Groups = append(c.facts.Groups, prose(text)...)
}

// structured reads the form that it has since v1.30: YAML.
func structured(text string) []explain.Group {
	var s struct {
		NodeGroups []struct {
			Name   string `yaml:"name"`
			Health struct {
				Target int `yaml:"cloudProviderTarget"`
				Min    int `yaml:"minSize"`
				Max    int `yaml:"maxSize"`
			} `yaml:"health"`
		} `yaml:"nodeGroups"`
	}
	if yaml.Unmarshal([]byte(text), &s) != nil {
		return nil
	}
	var groups []explain.Group
	for _, g := range s.NodeGroups {
		groups = append(groups, explain.Group{Name: g.Name, Size: g.Health.Target, Min: g.Health.Min, Max: g.Health.Max})
	}
	return groups
}

var sizes = regexp.MustCompile(`cloudProviderTarget=(\d+) \(minSize=(\d+), maxSize=(\d+)\)`)

// prose reads the form that it had before: lines for people.
func prose(text string) []explain.Group {
	var groups []explain.Group
	name := ""
	for _, line := range strings.Split(text, "\n") {
		if after, ok := strings.CutPrefix(strings.TrimSpace(line), "Name:"); ok {
			name = strings.TrimSpace(after)
		}
		if m := sizes.FindStringSubmatch(line); m != nil && name != "" {
			groups = append(groups, explain.Group{Name: name, Size: number(m[1]), Min: number(m[2]), Max: number(m[3])})
			name = ""
		}
	}
	return groups
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
