package v1

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
)

// WriteWorkloads writes a payload of the kind workload_metadata, of records that come sorted by key. They
// are encoded one by one, so that all of them together never are in memory.
func WriteWorkloads(w io.Writer, e Envelope, records iter.Seq[*Record]) error {
	return writeList(w, e, "records", records)
}

// WriteNodes writes a payload of the kind node_metadata, of nodes that come sorted by name.
func WriteNodes(w io.Writer, e Envelope, nodes iter.Seq[*Node]) error {
	return writeList(w, e, "nodes", nodes)
}

// WriteCoverage writes a payload of the kind coverage.
func WriteCoverage(w io.Writer, c *Coverage) error {
	data, err := Encode(c)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// Encode gives the bytes of a value as payloads have them: without spaces, map keys sorted, and characters
// such as < as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func writeList[T any](w io.Writer, e Envelope, key string, items iter.Seq[*T]) error {
	head, err := Encode(e)
	if err != nil {
		return err
	}
	head = append(bytes.TrimSuffix(head, []byte("}")), `,"`+key+`":[`...)
	if _, err := w.Write(head); err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for item := range items {
		if err := encoder.Encode(item); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line's end
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
		b.Reset()
		b.WriteByte(',')
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}
