package fragment

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// Quantity reads the quantity of a resource: cpu, memory, example.com/device; for a field that holds
// a quantity, the field's name. It is a string that Kubernetes parses, and not negative. Memory and its
// like don't come in thousandths. path is where the quantity is, for findings.
func Quantity(n *source.Node, name, path string) (resource.Quantity, []finding.Finding) {
	return readQuantity(n, name, path, path)
}

// readQuantity reads a quantity that messages name as shown.
func readQuantity(n *source.Node, name, path, shown string) (resource.Quantity, []finding.Finding) {
	fault := func(code finding.Code, fix, format string, args ...any) (resource.Quantity, []finding.Finding) {
		message := shown + " is " + fmt.Sprintf(format, args...)
		return resource.Quantity{}, []finding.Finding{n.Fault(code, path, fix, "%s", message)}
	}
	switch n.Kind {
	case source.String:
	case source.List, source.Map:
		return fault(finding.WrongType, "", "%s, and must be a quantity in quotes", n.Describe())
	case source.Null:
		return fault(finding.NotAString, "give it a value, or leave it out", "null, and must be a quantity in quotes")
	default:
		return fault(finding.NotAString, n.Quote(), "%s, and quantities are strings", n.Describe())
	}
	q, ok := parse(n.Text)
	unit := unitOf(n.Text)
	switch {
	case !ok:
		return fault(finding.QuantityInvalid, meant(n.Text, name), "no quantity: %q", n.Text)
	case q.Sign() < 0:
		return fault(finding.QuantityInvalid, "", "negative: %q", n.Text)
	case inBytes(name) && (unit == "m" || unit == "u" || unit == "n"):
		return fault(finding.QuantityInvalid, meant(n.Text, name), "in fractions of a byte: %q", n.Text)
	}
	return q, nil
}

// inBytes says whether what has the name is counted in bytes.
func inBytes(name string) bool {
	switch name {
	case "memory", "ephemeral-storage", "storage", "sizeLimit":
		return true
	}
	return strings.HasPrefix(name, "hugepages-")
}

var (
	quantityText = regexp.MustCompile(`^([-+]?[0-9]*\.?[0-9]*)\s*([A-Za-z]*)\s*$`)
	exponent     = regexp.MustCompile(`[eE][-+]?0*([0-9]*)$`)
)

// parse is how Kubernetes parses a quantity, within bounds. It would take "." and "Mi" for 0, take an
// exponent's last 32 bits for the exponent, and write out as many digits as that says.
func parse(text string) (resource.Quantity, bool) {
	const longest = 64
	e := exponent.FindStringSubmatch(text)
	if len(text) > longest || e != nil && len(e[1]) > 2 || !strings.ContainsAny(text, "0123456789") {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}

// unitOf is what follows the number.
func unitOf(text string) string {
	if parts := quantityText.FindStringSubmatch(text); parts != nil {
		return parts[2]
	}
	return ""
}
