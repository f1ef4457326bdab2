package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Hash is the SHA-256, in hexadecimal, of the plan's canonical JSON: without origins, with keys in order,
// without white space and escapes for HTML.
func (p *Plan) Hash() string {
	bare := *p
	bare.Steps = make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		s.Pod.Origins = nil
		bare.Steps[i] = s
	}
	sum := sha256.Sum256(canonical(bare))
	return hex.EncodeToString(sum[:])
}

// canonical is the value's JSON in a form that does not depend on the order of Go's fields.
func canonical(v any) []byte {
	var untyped any
	d := json.NewDecoder(bytes.NewReader(encode(v)))
	d.UseNumber() // as it is written
	if err := d.Decode(&untyped); err != nil {
		panic(err) // was encoded just now
	}
	return encode(untyped)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a plan holds nothing that JSON has not
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// UnmarshalJSON reads integers as int64.
func (o *Object) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := kjson.Unmarshal(data, &m); err != nil {
		return err
	}
	*o = m
	return nil
}
