package sqlite

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
)

// Origins are two thirds of what a step's plan takes, and are read one step at a time, by people: compressed
// they take a sixth.

// packer compresses one value after the other.
type packer struct {
	to  bytes.Buffer
	zip *zlib.Writer
}

// pack gives the JSON of a value, compressed. It is valid until the next one.
func (p *packer) pack(v any) ([]byte, error) {
	p.to.Reset()
	if p.zip == nil {
		p.zip = zlib.NewWriter(&p.to)
	} else {
		p.zip.Reset(&p.to)
	}
	if _, err := p.zip.Write(encode(v)); err != nil {
		return nil, err
	}
	err := p.zip.Close()
	return p.to.Bytes(), err
}

// packed is a column of JSON that may be compressed, to be scanned. The first versions did not.
type packed struct{ into any }

// Scan tells them apart by the first byte: no JSON that is stored begins as zlib's format does (RFC 1950).
func (p packed) Scan(column any) error {
	data, _ := column.([]byte)
	if len(data) == 0 || data[0] != 0x78 {
		return decoded(p).Scan(column)
	}
	from, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return json.Unmarshal(text, p.into)
}
