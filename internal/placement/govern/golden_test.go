package govern

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata show who may have what. Each case begins with "== TITLE" and prose, and has the
// sections "-- operator.yaml --", without which the one of the case before it holds, "-- pipeline.yaml --",
// "-- who --", without which an operator asks, and "-- findings --".
func TestGolden(t *testing.T) {
	var operator *profile.File
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		text, operator = transcribe(t, text, operator)
		return text
	})
}

// transcribe gives a case again, with what really comes out, and the operator file that holds by then.
func transcribe(t *testing.T, text string, operator *profile.File) (string, *profile.File) {
	out, sections := transcript.Sections(text)
	who, environment, written := Who{Operator: true}, "", ""
	for _, section := range sections {
		switch section.Name {
		case "findings":
			continue
		case "operator.yaml":
			operator = load(t, section.Body)
		case "who":
			who, environment = asks(t, section.Body)
		case "pipeline.yaml":
			written = section.Body
		}
		out += section.String()
	}
	findings, _ := Admit(compile(t, operator, written, environment), who, operator)
	return out + "-- findings --\n" + findings.Text(map[string]string{"pipeline.yaml": written}), operator
}

// asks reads who asks: words, or KEY=VALUE.
func asks(t *testing.T, text string) (who Who, environment string) {
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "embedded":
			who.Embedded = true
		case "operator":
			who.Operator = true
		case "identity":
			who.Identity = value
		case "pipeline":
			who.Pipeline = value
		case "--environment":
			environment = value
		case "nobody":
		default:
			t.Fatalf("who is %q?", word)
		}
	}
	return who, environment
}
