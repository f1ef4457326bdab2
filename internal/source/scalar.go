package source

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The core schema of YAML 1.2, https://yaml.org/spec/1.2.2/#103-core-schema.
var (
	decimal     = regexp.MustCompile(`^[-+]?[0-9]+$`)
	octal       = regexp.MustCompile(`^0o[0-7]+$`)
	hexadecimal = regexp.MustCompile(`^0x[0-9a-fA-F]+$`)
	float       = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	infinite    = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF)$`)
	leadingZero = regexp.MustCompile(`^[-+]?0[0-9]+$`)
)

// resolve says what a plain scalar is. trouble is empty, or says why the number can't be taken.
func resolve(text string) (kind Kind, value any, trouble string) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Null, nil, ""
	case "true", "True", "TRUE":
		return Bool, true, ""
	case "false", "False", "FALSE":
		return Bool, false, ""
	case ".nan", ".NaN", ".NAN":
		return Float, math.NaN(), ""
	}
	switch {
	case decimal.MatchString(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Int, int64(0), "is too large for an integer of 64 bits"
		}
		return Int, n, ""
	case octal.MatchString(text):
		return based(text, 8)
	case hexadecimal.MatchString(text):
		return based(text, 16)
	case infinite.MatchString(text):
		sign := 1
		if strings.HasPrefix(text, "-") {
			sign = -1
		}
		return Float, math.Inf(sign), ""
	case float.MatchString(text):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Float, 0.0, "is too large for a number of 64 bits"
		}
		return Float, f, ""
	}
	return String, text, ""
}

func based(text string, base int) (Kind, any, string) {
	n, err := strconv.ParseInt(text[2:], base, 64)
	if err != nil {
		return Int, int64(0), "is too large for an integer of 64 bits"
	}
	return Int, n, ""
}

// Ambiguous says whether the node is a number that readers of YAML read differently: 0644 is 420
// to those of YAML 1.1, and 644 to those of 1.2. Whoever wants the number has to refuse it; as a text
// it is what it is.
func (n *Node) Ambiguous() bool {
	return n.Kind == Int && leadingZero.MatchString(n.Text)
}
