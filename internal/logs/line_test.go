package logs

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"text", "ok  \tpkg 0.1s", "ok  \tpkg 0.1s"},
		{"other writing", "größer → 日本", "größer → 日本"},
		{"colours", "\x1b[1;31mFAIL\x1b[0m", "\x1b[1;31mFAIL\x1b[0m\x1b[0m"},
		{"colours of 24 bits", "\x1b[38:2::255:0:0mx", "\x1b[38:2::255:0:0mx\x1b[0m"},
		{"a colour that does not end", "\x1b[31mred", "\x1b[31mred\x1b[0m"},
		{"a progress bar", " 10%\r 50%\r100%", "100%"},
		{"lines of Windows", "text\r", "text"},
		{"a bar that ends on its return", "50%\r100%\r", "100%"},
		{"the cursor is moved", "a\x1b[2Ab\x1b[Hc\x1b[2Jd", "abcd"},
		{"the title is set", "a\x1b]0;pwned\x07b\x1b]2;pwned\x1b\\c", "abc"},
		{"the title is set, and no end of it", "a\x1b]0;pwned", "a"},
		{"the clipboard is set", "\x1b]52;c;cm0gLXJm\x07x", "x"},
		{"a link", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"keys are changed, with an m at the end", "\x1b[>4;2mx\x1b[?1m", "x"},
		{"the screen is reset", "\x1bcx\x1b(0q", "xq"},
		{"a sequence in a sequence", "\x1b\x1b[2J[2J", "[2J"},
		{"a sequence that is split by what is taken out", "\x1b\x00[2J", "[2J"},
		{"a colour that is split", "\x1b[31\x00m", "31m"},
		{"eight bits", "a\u009b2Jb", "a2Jb"},
		{"bell, backspace, delete, shift", "a\a\b\x7f\x0e\x00b", "ab"},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"an escape at the end", "a\x1b", "a"},
	} {
		if got := Clean(test.line); got != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", mostLine)
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"no end", "a\nb", []string{"a", "b"}},
		{"an end", "a\nb\n", []string{"a", "b"}},
		{"lines without text", "\n\n", []string{"", ""}},
		{"as long as may be", long + "\nb\n", []string{long, "b"}},
		{"too long", long + "yz\nb\n", []string{long, "yz", "b"}},
		{"too long, and no end", long + long + "y", []string{long, long, "y"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
			var got []string
			if err := Lines(r, func(line string) { got = append(got, line) }); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%s: %d lines, %v", test.name, len(got), err)
			}
		}
	}
	broken := errors.New("broken")
	if err := Lines(iotest.ErrReader(broken), func(string) {}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// FuzzClean: whatever a log has, nothing of it reaches the terminal but text and colours.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"text", "\x1b[31mred", "\x1b]0;title\x07", "\x1b[>4m", "\x1b\x1b[2J[31m", "a\rb", "\xff\u009b"} {
		f.Add(seed)
	}
	colours := regexp.MustCompile("\x1b\\[[0-9;:]*m")
	f.Fuzz(func(t *testing.T, line string) {
		got := Clean(line)
		text := colours.ReplaceAllString(got, "")
		if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }); i >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q has %q", got, text[max(i, 0):])
		}
		if text != got && !strings.HasSuffix(got, reset) {
			t.Errorf("%q goes on in colour", got)
		}
	})
}
