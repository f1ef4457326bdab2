package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// small is what is kept of a log in memory before a file is made of it.
const small = 64 << 10

// most is how much of a log is kept: its end. A variable, so that tests need not write so much.
var most int64 = 16 << 20

// spool has the last of what was written to it: most, and up to twice that. It consists of two segments, each up
// to most long: when the new one is full it becomes the old one.
//
// One goroutine writes, and several read at the same time. A spool is there as long as someone holds it.
type spool struct {
	folder string

	mu      sync.Mutex
	holders int
	old     segment
	new     segment
	dropped int64         // bytes before old
	grown   chan struct{} // closed when something was written, or it is over; nil: nobody waits for that
	over    bool          // nothing more comes
	failed  error         // of the folder, not of what is written
}

// newSpool makes a spool that is held once.
func newSpool(folder string) *spool { return &spool{folder: folder, holders: 1} }

func (s *spool) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders++
}

func (s *spool) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders--; s.holders == 0 {
		s.old.remove()
		s.new.remove()
	}
}

// ReadFrom writes all that is read.
func (s *spool) ReadFrom(r io.Reader) (total int64, err error) {
	buffer := buffers.Get().(*[small]byte)
	defer buffers.Put(buffer)
	for {
		n, err := r.Read(buffer[:])
		if n > 0 {
			if err := s.write(buffer[:n]); err != nil {
				return total, err
			}
			total += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

func (s *spool) write(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.new.add(s.folder, p); err != nil {
		s.failed = err
		return err
	}
	if s.new.size >= most {
		s.dropped += s.old.size
		s.old.remove()
		s.old, s.new = s.new, segment{}
	}
	s.signal()
	return nil
}

func (s *spool) signal() {
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// end says that nothing more comes.
func (s *spool) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.signal()
}

// total is how much was ever written.
func (s *spool) total() int64 { return s.dropped + s.old.size + s.new.size }

func (s *spool) written() (total int64, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total(), s.failed
}

// read reads at a place in all that was ever written. Where that is not there any more it reads nothing, and says
// where the next line begins that is. If there is nothing yet, grown is closed when there may be; it is nil if
// nothing more comes.
func (s *spool) read(p []byte, at int64) (n int, from int64, grown <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at < s.dropped {
		return 0, s.line(s.dropped), nil, nil
	}
	if at >= s.total() {
		if s.over {
			return 0, at, nil, nil
		}
		if s.grown == nil {
			s.grown = make(chan struct{})
		}
		return 0, at, s.grown, nil
	}
	n, err = s.readAt(p, at)
	return n, at, nil, err
}

// readAt reads what is there at a place, without going from one segment to the next.
func (s *spool) readAt(p []byte, at int64) (n int, err error) {
	if in := at - s.dropped; in < s.old.size {
		n, err = s.old.readAt(p[:min(int64(len(p)), s.old.size-in)], in)
	} else {
		n, err = s.new.readAt(p, in-s.old.size)
	}
	if n > 0 {
		err = nil
	}
	return n, err
}

// line is where the first line begins that is whole, from a place within a line on; the place itself if the line
// is too long to look for its end.
func (s *spool) line(at int64) int64 {
	buffer := buffers.Get().(*[small]byte)
	defer buffers.Put(buffer)
	for from := at; from < at+small; {
		n, err := s.readAt(buffer[:], from)
		if n == 0 || err != nil {
			break
		}
		if i := bytes.IndexByte(buffer[:n], '\n'); i >= 0 {
			return from + int64(i) + 1
		}
		from += int64(n)
	}
	return at
}

// writeTo writes the last of a spool that is over, with a first line that says what was cut.
func (s *spool) writeTo(w io.Writer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.dropped
	if cut := s.total() - most; cut > 0 {
		at = s.line(cut)
		if _, err := io.WriteString(w, missing(at)); err != nil {
			return err
		}
	}
	in := at - s.dropped
	if err := s.old.writeTo(w, in); err != nil {
		return err
	}
	return s.new.writeTo(w, max(0, in-s.old.size))
}

// missing is the line that says that the beginning is not there.
func missing(n int64) string {
	amount, unit := n, "bytes"
	switch {
	case n >= 1<<20:
		amount, unit = n>>20, "MiB"
	case n >= 1<<10:
		amount, unit = n>>10, "KiB"
	}
	return fmt.Sprintf("[the first %d %s are missing: the last %d MiB of a log are kept]\n", amount, unit, most>>20)
}
