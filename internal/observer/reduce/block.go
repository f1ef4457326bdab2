package reduce

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Block is a part of a pod that is the same for many. It does not change.
type Block[T any] struct {
	Body  T
	Drops []Drop // what of it was left out

	variant Name
	id      [sha256.Size]byte
}

// ID is the same for equal blocks.
func (b *Block[T]) ID() [sha256.Size]byte { return b.id }

// Variant is 12 hexadecimal digits of the SHA-256 of the body's bytes, as they are in a payload.
func (b *Block[T]) Variant() string { return b.variant.Value() }

func block[T any](body T, drops []Drop) *Block[T] {
	data, err := observer.Encode(body)
	if err != nil {
		panic(err) // the bodies are plain data
	}
	slices.SortFunc(drops, Drop.compare) // some were found in the order of a map
	sum := sha256.Sum256(data)
	b := &Block[T]{Body: body, Drops: drops, variant: name(hex.EncodeToString(sum[:6])), id: sum}
	if len(drops) > 0 {
		b.id = sha256.Sum256(fmt.Appendf(data, "%#v", drops))
	}
	return b
}
