package cli

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/berthdev/berth/internal/census"
)

// itemBatch is items that are decoded together.
type itemBatch struct {
	items   []census.Item
	objects []any
	err     error
	done    chan struct{} // closed once they are
}

const (
	mostBatch  = 64 // items
	mostAhead  = 8  // batches that are split off and not yet added
	mostBroken = 10 // errors that are shown
)

func (b *itemBatch) decode() {
	for _, item := range b.items {
		o, err := census.Decode(item)
		b.objects, b.err = append(b.objects, o), errors.Join(b.err, err)
	}
	close(b.done)
}

// readJSON decodes objects on all processors, and adds them in their order.
func readJSON(c *census.Census, r io.Reader) error {
	todo, inOrder := make(chan *itemBatch, mostAhead), make(chan *itemBatch, mostAhead)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for b := range todo {
				b.decode()
			}
		})
	}
	broken := make(chan error, 1)
	go func() {
		broken <- splitBatches(r, func(b *itemBatch) {
			todo <- b
			inOrder <- b
		})
		close(todo)
		close(inOrder)
	}()
	var failed []error
	for b := range inOrder {
		<-b.done
		if b.err != nil {
			failed = append(failed, b.err)
		}
		for i, o := range b.objects {
			if o == nil {
				c.Ignored(b.items[i].Kind)
			} else {
				c.Add(o)
			}
		}
	}
	workers.Wait()
	return firstErrors(append(failed, <-broken))
}

// splitBatches gives the items of a text in batches.
func splitBatches(r io.Reader, each func(*itemBatch)) error {
	b := &itemBatch{done: make(chan struct{})}
	err := census.Split(r, func(item census.Item) error {
		if b.items = append(b.items, item); len(b.items) == mostBatch {
			each(b)
			b = &itemBatch{done: make(chan struct{})}
		}
		return nil
	})
	each(b)
	return err
}

// firstErrors are the first lines of all of them.
func firstErrors(all []error) error {
	err := errors.Join(all...)
	if err == nil {
		return nil
	}
	lines := strings.Split(err.Error(), "\n")
	return errors.New(strings.Join(lines[:min(len(lines), mostBroken)], "\n"))
}
