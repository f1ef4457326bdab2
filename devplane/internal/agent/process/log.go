package process

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// maxLogLine is where containerd splits a line.
const maxLogLine = 16 << 10

// logFile is the log of one run of a container in CRI format. Both streams write to it.
type logFile struct {
	mu  sync.Mutex
	f   *os.File
	now func() time.Time
}

func createLog(path string) (*logFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640)
	if err != nil {
		return nil, err
	}
	return &logFile{f: f, now: time.Now}, nil
}

// Close ends the log. The change of mode wakes those who follow it, who would else find out about
// the end a second later.
func (l *logFile) Close() error {
	l.f.Chmod(0o640)
	return l.f.Close()
}

// copy writes what comes from r to the log, until r ends.
func (l *logFile) copy(stream string, r io.Reader) error {
	in := make([]byte, 32<<10)
	var rest []byte // the beginning of a line that has not ended yet
	for {
		n, err := r.Read(in)
		var out []byte
		out, rest = l.format(stream, append(rest, in[:n]...), err != nil)
		if len(out) > 0 {
			l.mu.Lock()
			_, writeErr := l.f.Write(out)
			l.mu.Unlock()
			if writeErr != nil {
				return writeErr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// format renders the complete lines of data, and also the incomplete last one if it is the end or
// the line is too long. What it did not render it returns.
func (l *logFile) format(stream string, data []byte, end bool) (out, rest []byte) {
	stamp := l.now().UTC().AppendFormat(nil, time.RFC3339Nano)
	line := func(tag string, content []byte) {
		out = append(out, stamp...)
		out = append(append(append(append(out, ' '), stream...), ' '), tag...)
		out = append(append(append(out, ' '), content...), '\n')
	}
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		switch {
		case i > maxLogLine || i < 0 && len(data) > maxLogLine:
			line("P", data[:maxLogLine])
			data = data[maxLogLine:]
		case i >= 0:
			line("F", data[:i])
			data = data[i+1:]
		case end:
			line("P", data)
			return out, nil
		default:
			return out, data
		}
	}
	return out, nil
}
