package wire

import (
	"encoding/binary"
	"errors"
)

var errMalformed = errors.New("malformed protobuf message")

// trim appends to dst what of the message is kept. See https://protobuf.dev/programming-guides/encoding/.
func (m message) trim(dst, data []byte) ([]byte, error) {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errMalformed
		}
		value, end, err := field(data, tag, n)
		if err != nil {
			return nil, err
		}
		below, kept := m[tag>>3]
		switch {
		case !kept:
		case below == nil || tag&7 != lengthDelimited:
			dst = append(dst, data[:end]...)
		default:
			dst = append(dst, data[:n]...)
			if dst, err = below.trimBelow(dst, value); err != nil {
				return nil, err
			}
		}
		data = data[end:]
	}
	return dst, nil
}

// trimBelow appends what of a message within a message is kept, with its length before it.
func (m message) trimBelow(dst, data []byte) ([]byte, error) {
	start := len(dst)
	dst, err := m.trim(dst, data)
	if err != nil {
		return nil, err
	}
	size := len(dst) - start
	var prefix [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(prefix[:], uint64(size))
	dst = append(dst, prefix[:n]...)
	copy(dst[start+n:], dst[start:start+size])
	copy(dst[start:], prefix[:n])
	return dst, nil
}

// Wire types.
const (
	variable        = 0
	eightBytes      = 1
	lengthDelimited = 2
	fourBytes       = 5
)

// field gives the value of the field that data begins with, and where it ends. The tag takes n bytes.
func field(data []byte, tag uint64, n int) (value []byte, end int, err error) {
	switch tag & 7 {
	case variable:
		_, size := binary.Uvarint(data[n:])
		if size <= 0 {
			return nil, 0, errMalformed
		}
		end = n + size
	case eightBytes:
		end = n + 8
	case fourBytes:
		end = n + 4
	case lengthDelimited:
		length, size := binary.Uvarint(data[n:])
		if size <= 0 || length > uint64(len(data)) {
			return nil, 0, errMalformed
		}
		n += size
		end = n + int(length)
	default:
		return nil, 0, errMalformed
	}
	if end > len(data) {
		return nil, 0, errMalformed
	}
	return data[n:end], end, nil
}
