package placement

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Clone copies a value all the way down, with numbers in the two types that a fragment has.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = Clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float32:
		return float64(v)
	default:
		return v
	}
}

// equal compares values. Numbers are equal if they are worth the same.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	x, xInt := integer(a)
	y, yInt := integer(b)
	f, fFloat := a.(float64)
	g, gFloat := b.(float64)
	switch {
	case xInt && yInt:
		return x == y
	case xInt && gFloat:
		return float64(x) == g
	case fFloat && yInt:
		return f == float64(y)
	}
	return a == b
}

func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	}
	return 0, false
}

// keyText is a value as part of an item's key.
func keyText(v any) (string, bool) {
	switch v := Clone(v).(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// shown is a value as a message quotes it: compact, and cut where it gets long.
func shown(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 100
	if text := []rune(string(data)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(data)
}

// shape names what a value is, for messages.
func shape(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a single value"
	}
}
