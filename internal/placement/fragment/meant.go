package fragment

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// meant suggests the quantities that a text may stand for.
func meant(text, name string) string {
	guesses := guess(text, name)
	if len(guesses) == 0 || slices.ContainsFunc(guesses, func(g string) bool { _, ok := parse(g); return !ok }) {
		return `write a number with a unit that Kubernetes has: "500m", "4", "512Mi", "2Gi"`
	}
	return "did you mean " + finding.Either(guesses) + "?"
}

// guess gives the quantities that a number with a unit of some other system may stand for: MB is a power
// of ten to some and of two to others.
func guess(text, name string) []string {
	parts := quantityText.FindStringSubmatch(text)
	if parts == nil {
		return nil
	}
	number, unit := strings.TrimLeft(parts[1], "+-"), letters(parts[2])
	switch {
	case unit == "":
		return []string{number}
	case parts[2] == "m" && !inBytes(name):
		return []string{number + "m"} // of a core: only the blank was wrong
	case len(unit) == 1 && strings.Contains("kmgtpe", unit):
		return []string{number + decimal(unit), number + strings.ToUpper(unit) + "i"}
	case len(unit) == 2 && strings.Contains("kmgtpe", unit[:1]) && unit[1] == 'i':
		return []string{number + strings.ToUpper(unit[:1]) + "i"}
	}
	return nil
}

// letters is a unit's letters without those that say that it is of bytes: mb, megabytes and m are m.
func letters(unit string) string {
	unit = strings.ToLower(unit)
	for _, end := range []string{"s", "byte", "b"} {
		unit = strings.TrimSuffix(unit, end)
	}
	if s, ok := prefixes[unit]; ok {
		return s
	}
	return unit
}

var prefixes = map[string]string{
	"kilo": "k", "mega": "m", "giga": "g", "tera": "t", "peta": "p", "exa": "e",
	"kibi": "ki", "mebi": "mi", "gibi": "gi", "tebi": "ti", "pebi": "pi", "exbi": "ei",
}

// decimal is how Kubernetes writes a power of a thousand: k, M, G.
func decimal(unit string) string {
	if unit == "k" {
		return unit
	}
	return strings.ToUpper(unit)
}
