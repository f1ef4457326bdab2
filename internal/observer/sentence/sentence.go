package sentence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Explain reads payloads, one after the other, and writes what they say. An error says which of them is none.
func Explain(out io.Writer, payloads io.Reader) error {
	d := json.NewDecoder(payloads)
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) && n > 1 {
			return nil
		} else if err != nil {
			return fmt.Errorf("payload %d is no JSON", n)
		}
		text, err := explain(raw)
		if err != nil {
			return fmt.Errorf("payload %d: %w", n, err)
		}
		if n > 1 {
			text = "\n" + text
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
}

func explain(raw []byte) (string, error) {
	var e observer.Envelope
	if err := json.Unmarshal(raw, &e); err != nil || e.Kind == "" {
		return "", errors.New("it has no kind: is it one of berth-observer's?")
	}
	if e.Schema != observer.Schema {
		return "", fmt.Errorf("its schema is %d, and this program reads %d", e.Schema, observer.Schema)
	}
	w := &writer{}
	w.line("%s of %s, captured %s", e.Kind, cluster(e.Cluster), e.CapturedAt.Format("2006-01-02 15:04:05 MST"))
	switch e.Kind {
	case observer.KindWorkloads:
		var p observer.WorkloadMetadata
		if err := strict(raw, &p); err != nil {
			return "", err
		}
		w.workloads(&p)
	case observer.KindNodes:
		var p observer.NodeMetadata
		if err := strict(raw, &p); err != nil {
			return "", err
		}
		w.nodes(&p)
	case observer.KindCoverage:
		var p observer.Coverage
		if err := strict(raw, &p); err != nil {
			return "", err
		}
		w.coverage(&p)
	default:
		return "", fmt.Errorf("there is no kind %q", e.Kind)
	}
	return w.String(), nil
}

func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("it is not as its schema says: %w", err)
	}
	return nil
}

func cluster(id string) string {
	if id == "" {
		return "an unnamed cluster"
	}
	return "cluster " + id
}

// writer writes lines.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

// plural is "1 pod", "2 pods".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// list is "a, b and c".
func list(all []string, last string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + last + " " + all[len(all)-1]
}
