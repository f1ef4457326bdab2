package census

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Item is one object of a JSON text.
type Item struct {
	APIVersion, Kind string
	Text             []byte // the object
	Line             int    // where it begins, from 1
}

// MostItemBytes bounds one object. The API server takes some 3 MiB at most.
const MostItemBytes = 16 << 20

// Split gives the objects of a JSON text: one object, several one after another, or those of lists. Only
// braces and strings are looked at; whether an object is JSON is found when it is decoded. The text of an
// item is the receiver's to keep.
func Split(r io.Reader, each func(Item) error) error {
	s := &splitter{r: bufio.NewReaderSize(r, 1<<20), line: 1, each: each}
	for {
		b, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b != '{' {
			return fmt.Errorf("line %d: %q where an object begins", s.line, b)
		}
		if err := s.object(); err != nil {
			return err
		}
	}
}

type splitter struct {
	r    *bufio.Reader
	line int
	each func(Item) error
}

// object reads an object whose brace has been read. If it is a list its items are given; else it is one.
func (s *splitter) object() error {
	item := Item{Line: s.line}
	text := bytes.NewBuffer(make([]byte, 0, 2<<10))
	text.WriteByte('{')
	list := false
	for {
		b, err := s.next()
		if err != nil {
			return s.broken(err)
		}
		if b == '}' {
			break
		}
		if b == ',' {
			text.WriteByte(b)
			continue
		}
		if b != '"' {
			return fmt.Errorf("line %d: %q where a key begins", s.line, b)
		}
		from := text.Len()
		text.WriteByte(b)
		if err := s.text(text); err != nil {
			return err
		}
		key := string(text.Bytes()[from+1 : text.Len()-1])
		if b, err = s.next(); err != nil || b != ':' {
			return fmt.Errorf("line %d: no colon after the key %q", s.line, key)
		}
		text.WriteByte(b)
		if b, err = s.next(); err != nil {
			return s.broken(err)
		}
		if key == "items" && b == '[' {
			list = true
			if err := s.items(); err != nil {
				return err
			}
			text.WriteString("[]")
			continue
		}
		from = text.Len()
		if err := s.value(b, text); err != nil {
			return err
		}
		switch value := text.Bytes()[from:]; {
		case key == "kind" && b == '"':
			item.Kind = string(value[1 : len(value)-1])
		case key == "apiVersion" && b == '"':
			item.APIVersion = string(value[1 : len(value)-1])
		}
	}
	if list {
		return nil
	}
	text.WriteByte('}')
	item.Text = text.Bytes()
	return s.each(item)
}

// items reads a list whose bracket has been read.
func (s *splitter) items() error {
	for {
		b, err := s.next()
		switch {
		case err != nil:
			return s.broken(err)
		case b == ']':
			return nil
		case b == ',':
		case b == '{':
			if err := s.object(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("line %d: %q where an object of items begins", s.line, b)
		}
	}
}
