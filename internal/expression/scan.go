package expression

import (
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

const (
	Opening = "${{" // that every expression in a text begins with
	closing = "}}"
)

// Has says whether there is an expression in a text, be it a valid one or not.
func Has(text string) bool { return strings.Contains(text, Opening) }

// chunk is an expression in a text, and the text before it.
type chunk struct {
	before string
	source string // between the braces
}

// split finds the expressions of a text and what is after the last one. If one has no end, unclosed
// says what is missing, the last chunk is that one, and nothing after it is looked at: where it was
// meant to end is not known.
func split(text string) (chunks []chunk, rest, unclosed string) {
	from := 0
	for {
		start := strings.Index(text[from:], Opening)
		if start < 0 {
			return chunks, text[from:], ""
		}
		start += from
		c := chunk{before: text[from:start]}
		body := text[start+len(Opening):]
		end, unclosed := find(body)
		if unclosed != "" {
			c.source = body
			return append(chunks, c), "", unclosed
		}
		c.source = body[:end]
		chunks = append(chunks, c)
		from = start + len(Opening) + end + len(closing)
	}
}

// find gives where the closing braces are: the first that are in no string literal, comment or map.
func find(body string) (end int, unclosed string) {
	depth := 0 // of maps
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '{':
			depth++
		case '}':
			if depth > 0 {
				depth--
			} else if strings.HasPrefix(body[i:], closing) {
				return i, ""
			}
		case '"', '\'', '`':
			length := literal(body[i:], raw(body[:i]) || c == '`')
			if length == 0 {
				return 0, "the string literal that begins with " + shown(finding.Clip(body[i:], 20)) + " has no end"
			}
			i += length - 1
		case '/':
			if strings.HasPrefix(body[i:], "//") {
				i += comment(body[i:], depth) - 1
			}
		}
	}
	return 0, "${{ without }}: the expression has no end"
}

// literal is the length of the string literal, or name in backquotes, that a text begins with; 0 if
// it has no end.
func literal(text string, raw bool) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); quote != "`" && strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		case text[i] == '\\' && !raw:
			i++
		case len(quote) == 1 && (text[i] == '\n' || text[i] == '\r'):
			return 0
		}
	}
	return 0
}

// raw says whether a quote after the text begins a literal in which a backslash is one: r”, br"" and
// so on, where the letters are not the end of a longer word.
func raw(before string) bool {
	word := before[len(strings.TrimRightFunc(before, isWord)):]
	return strings.EqualFold(word, "r") || strings.EqualFold(word, "rb") || strings.EqualFold(word, "br")
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// comment is the length of the comment that a text begins with: to the end of its line, or to the
// braces that close the expression.
func comment(text string, depth int) int {
	length := len(text)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		length = i
	}
	if i := strings.Index(text[:length], closing); i >= 0 && depth == 0 {
		length = i
	}
	return length
}
