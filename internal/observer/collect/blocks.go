package collect

import (
	"weak"

	"github.com/berthdev/berth/internal/observer/reduce"
)

// blocks gives equal blocks the same pointer, for as long as somebody has it.
type blocks[T any] struct {
	known map[[32]byte]weak.Pointer[reduce.Block[T]]
	swept int // how many there were after the last sweep
}

// share gives the block that is known, or makes this one known.
func (b *blocks[T]) share(block *reduce.Block[T]) *reduce.Block[T] {
	if block == nil {
		return nil
	}
	if known := b.known[block.ID()].Value(); known != nil {
		return known
	}
	if b.known == nil {
		b.known = map[[32]byte]weak.Pointer[reduce.Block[T]]{}
	}
	if len(b.known) > 2*b.swept+64 {
		b.sweep()
	}
	b.known[block.ID()] = weak.Make(block)
	return block
}

// sweep forgets what nobody has any more.
func (b *blocks[T]) sweep() {
	for id, p := range b.known {
		if p.Value() == nil {
			delete(b.known, id)
		}
	}
	b.swept = len(b.known)
}
