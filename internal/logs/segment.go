package logs

import (
	"io"
	"os"
	"sync"
)

// segment is a part of a log: in memory, or in a file once it is longer than small.
type segment struct {
	memory []byte
	file   *os.File
	size   int64
}

// add adds to the end. After an error the segment is as it was.
func (g *segment) add(folder string, p []byte) error {
	if g.file == nil && g.size+int64(len(p)) <= small {
		g.memory = append(g.memory, p...)
		g.size += int64(len(p))
		return nil
	}
	if g.file == nil {
		if err := g.spill(folder); err != nil {
			return err
		}
	}
	if _, err := g.file.WriteAt(p, g.size); err != nil {
		return err
	}
	g.size += int64(len(p))
	return nil
}

// spill moves what is in memory into a file that has no name: it is gone when it is closed, or when the process
// is, however that ends.
func (g *segment) spill(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "log-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return err
	}
	if _, err := f.WriteAt(g.memory, 0); err != nil {
		f.Close()
		return err
	}
	g.file, g.memory = f, nil
	return nil
}

func (g *segment) readAt(p []byte, at int64) (int, error) {
	if g.file != nil {
		return g.file.ReadAt(p, at)
	}
	if at >= g.size {
		return 0, io.EOF
	}
	return copy(p, g.memory[at:]), nil
}

// writeTo writes what there is from a place on.
func (g *segment) writeTo(w io.Writer, at int64) error {
	if at >= g.size {
		return nil
	}
	if g.file == nil {
		_, err := w.Write(g.memory[at:])
		return err
	}
	buffer := buffers.Get().(*[small]byte)
	defer buffers.Put(buffer)
	_, err := io.CopyBuffer(writerOnly{w}, io.NewSectionReader(g.file, at, g.size-at), buffer[:])
	return err
}

// writerOnly hides other methods, for which io.CopyBuffer would not use its buffer.
type writerOnly struct{ io.Writer }

func (g *segment) remove() {
	if g.file != nil {
		g.file.Close()
	}
	*g = segment{}
}

// buffers are what logs are copied with.
var buffers = sync.Pool{New: func() any { return new([small]byte) }}
