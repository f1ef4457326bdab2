package census

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// child is the value of a key; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalar(n *yaml.Node, key string) string {
	if v := child(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

var segment = regexp.MustCompile(`[^.\[\]]+|\[\d+\]`)

// at finds the last key of a path; nil if it is not there.
func at(n *yaml.Node, path string) *yaml.Node {
	all := segment.FindAllString(path, -1)
	for i, s := range all {
		if n == nil {
			return nil
		}
		if strings.HasPrefix(s, "[") {
			j, _ := strconv.Atoi(s[1 : len(s)-1])
			if n.Kind != yaml.SequenceNode || j >= len(n.Content) {
				return nil
			}
			n = n.Content[j]
			continue
		}
		if i == len(all)-1 {
			for k := 0; k+1 < len(n.Content); k += 2 {
				if n.Content[k].Value == s {
					return n.Content[k]
				}
			}
			return nil
		}
		n = child(n, s)
	}
	return nil
}

// plain turns what YAML is read into into what JSON is read into.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
		return v
	case int:
		return int64(v)
	case uint64:
		return int64(v)
	case fmt.Stringer: // a time
		return v.String()
	}
	return v
}
