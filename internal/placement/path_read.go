package placement

import (
	"errors"
	"strings"
)

// pathReader reads a path from the text, byte by byte: all that has a meaning is ASCII.
type pathReader struct {
	text string
	at   int
}

func (p *pathReader) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// segment reads the next segment after those before it.
func (p *pathReader) segment(before Path) (Segment, error) {
	afterItem := len(before) > 0 && before[len(before)-1].Item
	switch {
	case p.peek() == '[' && len(before) == 0:
		return Segment{}, errors.New("a path begins with a key, not with an item of a list")
	case p.peek() == '[' && afterItem:
		return Segment{}, errors.New("an item of a list has keys, not items")
	case p.peek() == '[':
		return p.item()
	case len(before) > 0 && p.peek() != '.':
		return Segment{}, errors.New("expected a dot or [ here")
	case len(before) > 0:
		p.at++
	}
	name, err := p.key(plainKey)
	return Segment{Name: name}, err
}

func (p *pathReader) item() (Segment, error) {
	p.at++
	name, err := p.key(plainItem)
	if err != nil {
		return Segment{}, err
	}
	if p.peek() != ']' {
		return Segment{}, errors.New("expected ] here")
	}
	p.at++
	return Segment{Name: name, Item: true}, nil
}

func (p *pathReader) key(plain func(byte) bool) (string, error) {
	if p.peek() == '"' {
		return p.quoted()
	}
	from := p.at
	for p.at < len(p.text) && plain(p.text[p.at]) {
		p.at++
	}
	if from == p.at {
		return "", errors.New("expected a key here")
	}
	return p.text[from:p.at], nil
}

func (p *pathReader) quoted() (string, error) {
	from := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case '"':
			p.at++
			return b.String(), nil
		case '\\':
			p.at++
			if next := p.peek(); next != '"' && next != '\\' {
				return "", errors.New(`a backslash stands only before a double quote or a backslash`)
			}
			fallthrough
		default:
			b.WriteByte(p.text[p.at])
		}
	}
	p.at = from
	return "", errors.New("this double quote is never closed")
}
