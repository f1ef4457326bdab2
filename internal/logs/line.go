package logs

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// mostLine is how long a line gets before it is broken.
const mostLine = 64 << 10

// Lines calls do with each line of a log, fit to be shown on a terminal and without its end, until the log's
// end. A line that is longer than 64 KiB comes in parts.
func Lines(r io.Reader, do func(line string)) error {
	b := bufio.NewReaderSize(r, mostLine)
	for broken := false; ; {
		line, err := b.ReadSlice('\n')
		if text := strings.TrimSuffix(string(line), "\n"); text != "" || len(line) > 0 && !broken {
			do(Clean(text))
		}
		switch broken = errors.Is(err, bufio.ErrBufferFull); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !broken:
			return err
		}
	}
}

// sequences are the control sequences and control strings of ECMA-48, and what begins like one.
var sequences = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|\x1b[ -/]*[0-~]?")

// colour is SGR. There are others that end with m, and change what a terminal's keys do.
var colour = regexp.MustCompile("^\x1b\\[[0-9;:]*m$")

// Clean makes a line safe to be shown: no control characters, no control sequences but colours, which end with
// it, and of a line that was written over with carriage returns the last state.
func Clean(line string) string {
	line = strings.TrimRight(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	if plain(line) {
		return line
	}
	line = strings.ToValidUTF8(line, "\uFFFD")
	coloured := false
	line = sequences.ReplaceAllStringFunc(line, func(s string) string {
		if !colour.MatchString(s) {
			return ""
		}
		coloured = true
		return s
	})
	line = strings.Map(func(r rune) rune {
		if r != '\t' && r != 0x1b && unicode.IsControl(r) {
			return -1
		}
		return r
	}, line)
	if coloured {
		line += reset
	}
	return line
}

const reset = "\x1b[0m"

// plain says whether there is nothing to do.
func plain(line string) bool {
	for i := range len(line) {
		if c := line[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
