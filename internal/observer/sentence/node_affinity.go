package sentence

import (
	"fmt"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// nodeAffinity says the required terms in one sentence, since one of them must hold, and each preferred one.
func nodeAffinity(all []observer.NodeExpression) (hard, soft []string) {
	var required, preferred []observer.NodeExpression
	for _, e := range all {
		if e.Required {
			required = append(required, e)
		} else {
			preferred = append(preferred, e)
		}
	}
	var terms []string
	for _, t := range termsOf(required) {
		terms = append(terms, conjunction(t))
	}
	if len(terms) > 0 {
		if len(terms) > 1 {
			for i := range terms {
				terms[i] = "(" + terms[i] + ")"
			}
		}
		hard = []string{"held to nodes where " + strings.Join(terms, " or ") + ": required node affinity"}
	}
	for _, t := range termsOf(preferred) {
		soft = append(soft, fmt.Sprintf("prefers nodes where %s, weight %d", conjunction(t), t[0].Weight))
	}
	return hard, soft
}

// termsOf splits expressions into their terms, which follow each other.
func termsOf(all []observer.NodeExpression) [][]observer.NodeExpression {
	var terms [][]observer.NodeExpression
	for i, e := range all {
		if i == 0 || all[i-1].Term != e.Term {
			terms = append(terms, nil)
		}
		terms[len(terms)-1] = append(terms[len(terms)-1], e)
	}
	return terms
}

func conjunction(term []observer.NodeExpression) string {
	var all []string
	for _, e := range term {
		all = append(all, expression(e))
	}
	return strings.Join(all, " and ")
}

func expression(e observer.NodeExpression) string {
	key := e.Key
	if e.Field && key == "metadata.name" {
		key = "the node's name"
	}
	values := list(e.Values, "or")
	if len(e.Values) == 0 {
		values = "values that are not told"
	}
	switch e.Operator {
	case "In":
		return key + " is " + values
	case "NotIn":
		return key + " is not " + values
	case "Exists":
		return "there is " + key
	case "DoesNotExist":
		return "there is no " + key
	case "Gt":
		return key + " is more than " + values
	case "Lt":
		return key + " is less than " + values
	case observer.OperatorNothing:
		return "nothing holds (a term without expressions, which no node matches)"
	}
	return key + " " + e.Operator + " " + values
}
