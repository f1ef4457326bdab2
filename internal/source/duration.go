package source

import (
	"time"

	"github.com/berthdev/berth/internal/finding"
)

// Duration is a length of time, written as Go writes it: 90s, 1h30m.
type Duration time.Duration

// FromNode reads a duration. Zero is one, less is not.
func (t *Duration) FromNode(d *Decoding, n *Node, path string) {
	if n.Kind != String {
		if n.Kind == Int {
			d.Add(n.Fault(finding.WrongType, path, "write "+n.Text+"s if you mean seconds", "%s is a number without a unit", path))
			return
		}
		d.wrong(n, path, "30s, 5m or 1h30m", "a duration")
		return
	}
	v, err := time.ParseDuration(n.Text)
	switch {
	case err != nil:
		d.Add(n.Fault(finding.ValueInvalid, path, "write 30s, 5m or 1h30m", "%s is no duration: %q", path, n.Text))
	case v < 0:
		d.Add(n.Fault(finding.ValueInvalid, path, "", "%s is negative", path))
	default:
		*t = Duration(v)
	}
}

// String is the duration as it is written, without units that are zero: 1h, not 1h0m0s.
func (t Duration) String() string {
	text := time.Duration(t).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(text) > len(zero) && text[len(text)-len(zero):] == zero {
			text = text[:len(text)-len(zero)+1]
		}
	}
	return text
}

// MarshalText is String.
func (t Duration) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*t = Duration(v)
	return err
}

// JSONSchema is how an editor checks it.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, "examples": []any{"30s", "5m", "1h30m"}}
}
