package main

import (
	"bytes"
	"regexp"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(devplanetest.Context(t), "../../examples/acme/nodes.yaml", &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`(?m)^tolerating +Succeeded +(\S+) +hello from \S+$`,
		`(?m)^plain +Pending +- +0/\d+ nodes are available: .*untolerated taint`,
	} {
		if !regexp.MustCompile(line).Match(out.Bytes()) {
			t.Errorf("the table lacks %s:\n%s", line, out.String())
		}
	}
}
