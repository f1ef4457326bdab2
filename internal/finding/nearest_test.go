package finding

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"run", "runs", "render", "version"}
	for word, want := range map[string]string{
		"versoin": "version", "vesion": "version", "rendr": "render", "rum": "run", "run": "run",
		"": "", "x": "", "cat": "", "conversion": "",
	} {
		if got, _ := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
