package sentence

import (
	"os"
	"strings"
	"testing"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/transcript"
)

const golden = "../../../api/observer/v1/golden/"

// The golden payloads in words.
func TestGolden(t *testing.T) {
	for _, kind := range observer.Kinds() {
		f, err := os.Open(golden + kind + ".json")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var b strings.Builder
		if err := Explain(&b, f); err != nil {
			t.Fatal(err)
		}
		transcript.File(t, golden+kind+".txt", b.String())
	}
}

// Each phrase, by a part of a record: the part, and what is said of it.
func TestTranscript(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		if len(sections) == 0 || sections[0].Name != "pod" {
			t.Fatalf("no pod in %s", prose)
		}
		pod := strings.TrimSpace(sections[0].Body)
		payload := `{"kind":"workload_metadata","schema":1,"source":"structural","captured_at":"2026-03-12T12:00:00Z","records":[
			{"namespace":"n","workload_kind":"K","workload_name":"w","container":"c","variant":"000000000000","pod":` + pod + `}]}`
		var b strings.Builder
		if err := Explain(&b, strings.NewReader(payload)); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(b.String(), "\n")
		return prose + sections[0].String() + "-- said --\n" + strings.Join(lines[4:], "")
	})
}

func TestNoPayload(t *testing.T) {
	for text, want := range map[string]string{
		``:                                     "payload 1 is no JSON",
		`x`:                                    "payload 1 is no JSON",
		`{}`:                                   "it has no kind",
		`{"kind":"x","schema":1}`:              `there is no kind "x"`,
		`{"kind":"coverage","schema":2}`:       "its schema is 2, and this program reads 1",
		`{"kind":"coverage","schema":1,"x":1}`: "not as its schema says",
	} {
		if err := Explain(&strings.Builder{}, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
