package main

import (
	"bytes"
	"context"
	"regexp"
	"testing"
	"time"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	// Its pipeline compiles and tests Berth, beside the other tests.
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	if err := run(ctx, "../..", &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, line := range []string{
		`(?m)^test \(arm64\) +succeeded +1 +general-arm64-\d +arm64,general `,
		`(?m)^build +succeeded .* digest=sha256:[0-9a-f]+`,
		`announce +\| berth is sha256:[0-9a-f]{64}`,
		`\(exit code 3, as expected\)`,
		`patient +waits: 0/\d+ nodes are available`,
		`demo: cluster down in`,
	} {
		if !regexp.MustCompile(line).Match(out.Bytes()) {
			t.Errorf("the demo lacks %s:\n%s", line, out.String())
		}
	}
}
