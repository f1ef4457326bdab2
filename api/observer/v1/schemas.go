package v1

import "embed"

//go:embed *.schema.json
var schemas embed.FS

// JSONSchema is the JSON Schema (2020-12) of a kind of payload; nil if there is no such kind.
func JSONSchema(kind string) []byte {
	data, err := schemas.ReadFile(kind + ".schema.json")
	if err != nil {
		return nil
	}
	return data
}
