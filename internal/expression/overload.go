package expression

import (
	"slices"
	"strings"

	"cel.dev/cel-go/common/operators"

	"github.com/berthdev/berth/internal/finding"
)

// overload is about a function or operator that does not take what it is given: "(string, int)", or
// "string.(int)" where it is called on a value.
func overload(function, signature string) Problem {
	target, list, _ := strings.Cut(signature, "(")
	args := typeList(strings.TrimSuffix(list, ")"))
	symbol, operator := operators.FindReverse(function)
	fix := "give it values of the types that it takes"
	switch {
	case operator && slices.Contains(args, "string") && (slices.Contains(args, "int") || slices.Contains(args, "double")):
		fix = "convert one of them: int(...), double(...) or string(...)"
	case target == "" && elsewhere[function] != "":
		fix = elsewhere[function]
	case !operator && target == "":
		fix = "give it values of the types that it takes, or call it on one: VALUE." + function + "(...)"
	}
	switch {
	case len(args) == 0:
		return problem(finding.ExpressionType, fix, "%s() wants an argument", function)
	case function == operators.Conditional:
		return problem(finding.ExpressionType, "make both of one type", "? takes a bool and two values of one type, not %s", and(args))
	case function == operators.Index:
		return problem(finding.ExpressionType, "write the number of an item, or the key of a map", "%s takes no %s in brackets", article(args[0]), args[1])
	case operator:
		return problem(finding.ExpressionType, fix, "%s does not take %s", symbol, and(args))
	case target != "":
		return problem(finding.ExpressionType, fix, "%s() of %s does not take %s", function, article(strings.TrimSuffix(target, ".")), and(args))
	default:
		return problem(finding.ExpressionType, fix, "%s() does not take %s", function, and(args))
	}
}

// typeList splits a list of types at its commas, those in parentheses apart.
func typeList(list string) []string {
	if list == "" {
		return nil
	}
	var out []string
	depth, from := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(list[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}

// and lists the types that were given.
func and(args []string) string {
	articles := make([]string, len(args))
	for i, arg := range args {
		articles[i] = article(arg)
	}
	if len(articles) == 1 {
		return articles[0]
	}
	return strings.Join(articles[:len(articles)-1], ", ") + " and " + articles[len(articles)-1]
}

// article puts a or an before the name of a type.
func article(name string) string {
	name = strings.ToLower(strings.TrimPrefix(name, "google.protobuf."))
	switch {
	case name == "null" || name == "null_type":
		return "null"
	case name == "bytes":
		return name
	case name == "dyn":
		return "a value"
	case strings.HasPrefix(name, "i"):
		return "an " + name
	default:
		return "a " + name
	}
}
