package placement

import (
	"fmt"
	"slices"
	"strings"
)

// Path leads to a field of a fragment, or to an item of a list that has keys. Written, keys are
// joined by dots, a key that is not plain is in double quotes, and an item's key is in brackets:
//
//	nodeSelector."kubernetes.io/os"
//	containers[step].env[HTTP_PROXY]
//	tolerations[workload-type:Equal:batch:NoSchedule]
//
// In double quotes, a backslash stands before a double quote and before a backslash. An item's key
// is quoted if it is empty or has one of []"\ in it. Paths are compared exactly: no letter stands
// for its other case.
type Path []Segment

// Segment is one step of a path.
type Segment struct {
	Name string // the key of a field or an item
	Item bool   // an item of a list, never the first segment and never after another item
}

// String is the path in its only spelling: ParsePath gives an equal path back.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Item:
			b.WriteByte('[')
			writeKey(&b, s.Name, plainItem)
			b.WriteByte(']')
		case i > 0:
			b.WriteByte('.')
			fallthrough
		default:
			writeKey(&b, s.Name, plainKey)
		}
	}
	return b.String()
}

func writeKey(b *strings.Builder, key string, plain func(byte) bool) {
	if isPlain(key, plain) {
		b.WriteString(key)
		return
	}
	b.WriteByte('"')
	for i := range len(key) {
		if key[i] == '"' || key[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	b.WriteByte('"')
}

func isPlain(key string, plain func(byte) bool) bool {
	for i := range len(key) {
		if !plain(key[i]) {
			return false
		}
	}
	return key != ""
}

func plainKey(c byte) bool {
	return c > ' ' && c != 0x7f && c != '.' && plainItem(c)
}

func plainItem(c byte) bool {
	return c >= ' ' && c != 0x7f && !strings.ContainsRune(`[]"\`, rune(c))
}

// MarshalText makes a path a string in JSON and YAML.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePath.
func (p *Path) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePath(string(text))
	return err
}

// Covers says whether q is p or below it. The empty path covers all.
func (p Path) Covers(q Path) bool {
	return len(p) <= len(q) && slices.Equal(p, q[:len(p)])
}

// ParsePath reads a path. Its error says at which character, from 1, the text stops being one.
func ParsePath(text string) (Path, error) {
	p := pathReader{text: text}
	var path Path
	for first := true; first || p.at < len(text); first = false {
		s, err := p.segment(path)
		if err != nil {
			return nil, fmt.Errorf("path %q, character %d: %w", text, len([]rune(text[:p.at]))+1, err)
		}
		path = append(path, s)
	}
	return path, nil
}

// MustPath is ParsePath for paths that are written in code.
func MustPath(text string) Path {
	path, err := ParsePath(text)
	if err != nil {
		panic(err)
	}
	return path
}
