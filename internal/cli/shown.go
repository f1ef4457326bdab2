package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
)

// shortJSON is a value in a cell of a table.
func shortJSON(v any) string {
	if s, ok := v.(string); ok && len(s) <= 60 && isWord(s) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return finding.Clip(strings.TrimSpace(b.String()), 60)
}

// at gives the value at a path of a pod, nil if there is none. Items are found by name.
func at(v any, path placement.Path) any {
	for _, s := range path {
		switch value := v.(type) {
		case map[string]any:
			v = value[s.Name]
		case []any:
			i := slices.IndexFunc(value, func(e any) bool { m, _ := e.(map[string]any); return m["name"] == s.Name })
			if i < 0 {
				return nil
			}
			v = value[i]
		default:
			return nil
		}
	}
	return v
}

// field is the value at a path of a pod, for a cell: a map as KEY=VALUE,KEY=VALUE.
func field(pod map[string]any, path string) string {
	switch v := at(pod, placement.MustPath(path)).(type) {
	case nil:
		return "-"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, k+"="+fmt.Sprint(v[k]))
		}
		return strings.Join(parts, ",")
	default:
		return fmt.Sprint(v)
	}
}

// tolerations is a pod's tolerations for a cell, as kubectl describe shows taints.
func tolerations(pod map[string]any) string {
	list, _ := at(pod, placement.MustPath("spec.tolerations")).([]any)
	var parts []string
	for _, e := range list {
		t, _ := e.(map[string]any)
		text, _ := t["key"].(string)
		if text == "" {
			text = "*"
		}
		if v, _ := t["value"].(string); v != "" {
			text += "=" + v
		}
		if effect, _ := t["effect"].(string); effect != "" {
			text += ":" + effect
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ",")
}

// isWord says whether a string can stand without quotes and still be told from other values.
func isWord(s string) bool {
	var other any
	return s != "" && !strings.ContainsAny(s, " \t\n\r\"") && json.Unmarshal([]byte(s), &other) != nil
}
