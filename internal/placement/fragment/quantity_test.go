package fragment

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

func TestQuantity(t *testing.T) {
	const none = "write a number"
	for _, test := range []struct {
		name, text string
		code       finding.Code // "" if it is right
		fix        string
	}{
		{"cpu", "500m", "", ""},
		{"cpu", `"2"`, "", ""},
		{"cpu", `"0.1"`, "", ""},
		{"memory", "512Mi", "", ""},
		{"memory", "1.5Gi", "", ""},
		{"memory", `"1e9"`, "", ""},
		{"memory", "128974848000k", "", ""},
		{"nvidia.com/gpu", `"1"`, "", ""},
		{"divisor", "1m", "", ""},
		{"cpu", "2", finding.NotAString, `quote it: "2"`},
		{"cpu", "010", finding.NotAString, `quote it: "010"`},
		{"cpu", "true", finding.NotAString, `quote it: "true"`},
		{"cpu", "~", finding.NotAString, "give it a value, or leave it out"},
		{"cpu", "[]", finding.WrongType, ""},
		{"cpu", "500 m", finding.QuantityInvalid, "did you mean 500m?"},
		{"cpu", `"1 "`, finding.QuantityInvalid, "did you mean 1?"},
		{"cpu", `"-1"`, finding.QuantityInvalid, ""},
		{"cpu", "two", finding.QuantityInvalid, none},
		{"cpu", `""`, finding.QuantityInvalid, none},
		{"cpu", `"."`, finding.QuantityInvalid, none},
		{"cpu", "0,5", finding.QuantityInvalid, none},
		{"memory", "300m", finding.QuantityInvalid, "did you mean 300M or 300Mi?"},
		{"memory", "300u", finding.QuantityInvalid, none},
		{"hugepages-2Mi", "300m", finding.QuantityInvalid, "did you mean 300M or 300Mi?"},
		{"sizeLimit", "300m", finding.QuantityInvalid, "did you mean 300M or 300Mi?"},
		{"memory", "512MB", finding.QuantityInvalid, "did you mean 512M or 512Mi?"},
		{"memory", "512mb", finding.QuantityInvalid, "did you mean 512M or 512Mi?"},
		{"memory", "512 MB", finding.QuantityInvalid, "did you mean 512M or 512Mi?"},
		{"memory", "512 megabytes", finding.QuantityInvalid, "did you mean 512M or 512Mi?"},
		{"memory", "512MiB", finding.QuantityInvalid, "did you mean 512Mi?"},
		{"memory", "512mi", finding.QuantityInvalid, "did you mean 512Mi?"},
		{"memory", "4GB", finding.QuantityInvalid, "did you mean 4G or 4Gi?"},
		{"memory", "4g", finding.QuantityInvalid, "did you mean 4G or 4Gi?"},
		{"memory", "1.5gb", finding.QuantityInvalid, "did you mean 1.5G or 1.5Gi?"},
		{"memory", "1gi", finding.QuantityInvalid, "did you mean 1Gi?"},
		{"memory", "512K", finding.QuantityInvalid, "did you mean 512k or 512Ki?"},
		{"memory", "512B", finding.QuantityInvalid, "did you mean 512?"},
		{"memory", "1e4294967298x", finding.QuantityInvalid, none},
		{"memory", `"1e4294967298"`, finding.QuantityInvalid, none}, // Kubernetes takes it for 1e2
		{"memory", `"1e999999999"`, finding.QuantityInvalid, none},  // Kubernetes writes it out
		{"memory", `"` + strings.Repeat("9", 100) + `"`, finding.QuantityInvalid, none},
	} {
		n, _ := source.Parse("f.yaml", []byte(test.text))
		q, findings := Quantity(n, test.name, "p")
		switch {
		case test.code == "" && (len(findings) > 0 || q.IsZero()):
			t.Errorf("%s: %s: got %s, %v", test.name, test.text, q.String(), findings)
		case test.code != "" && (len(findings) != 1 || findings[0].Code != test.code || !strings.HasPrefix(findings[0].Fix, test.fix) || test.fix == "" && findings[0].Fix != ""):
			t.Errorf("%s: %s: want %s, %q, got %q", test.name, test.text, test.code, test.fix, findings)
		case test.code != "" && findings[0].Path != "p":
			t.Errorf("%s: %s: at %s", test.name, test.text, findings[0].Path)
		}
	}
}
