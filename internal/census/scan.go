package census

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

func (s *splitter) byte() (byte, error) {
	b, err := s.r.ReadByte()
	if b == '\n' {
		s.line++
	}
	return b, err
}

// next is the next byte that is no space.
func (s *splitter) next() (byte, error) {
	for {
		b, err := s.byte()
		if err != nil || b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b, err
		}
	}
}

// value copies a value, the first byte of which has been read, up to its end.
func (s *splitter) value(first byte, into *bytes.Buffer) error {
	into.WriteByte(first)
	switch first {
	case '"':
		return s.text(into)
	case '{', '[':
		return s.nested(into)
	}
	for { // a number or a word
		b, err := s.r.Peek(1)
		if err != nil {
			return s.broken(err)
		}
		if bytes.IndexByte([]byte(",]} \t\r\n"), b[0]) >= 0 {
			return nil
		}
		_, _ = s.r.Discard(1)
		into.WriteByte(b[0])
	}
}

// nested copies an object or a list, the first byte of which has been copied.
func (s *splitter) nested(into *bytes.Buffer) error {
	for depth := 1; depth > 0; {
		b, err := s.byte()
		if err != nil {
			return s.broken(err)
		}
		if b == '\n' || b == '\r' || b == '\t' || b == ' ' {
			continue
		}
		into.WriteByte(b)
		switch b {
		case '"':
			if err := s.text(into); err != nil {
				return err
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if into.Len() > MostItemBytes {
			return fmt.Errorf("line %d: an object of more than %d MiB", s.line, MostItemBytes>>20)
		}
	}
	return nil
}

// text copies a string, the opening quote of which has been copied.
func (s *splitter) text(into *bytes.Buffer) error {
	for {
		part, err := s.r.ReadSlice('"')
		into.Write(part)
		s.line += bytes.Count(part, []byte("\n"))
		if errors.Is(err, bufio.ErrBufferFull) && into.Len() <= MostItemBytes {
			continue
		}
		if err != nil {
			return s.broken(err)
		}
		slashes := 0
		for b := into.Bytes(); slashes < len(b)-1 && b[len(b)-2-slashes] == '\\'; {
			slashes++
		}
		if slashes%2 == 0 {
			return nil
		}
	}
}

func (s *splitter) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("line %d: %w", s.line, err)
}
