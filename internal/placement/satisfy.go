package placement

import (
	"math"
	"slices"
	"strconv"
)

// satisfiable says whether a label could satisfy all expressions, which are about one key. Where it
// is in doubt it says yes: an operator that is newer than this code is taken to be satisfiable.
//
// The semantics are those of k8s.io/component-helpers/scheduling/corev1/nodeaffinity: NotIn and
// DoesNotExist hold without the label, all others need it, and Gt and Lt compare integers.
func satisfiable(exprs term) bool {
	needs, forbidden := false, false
	for _, e := range exprs {
		switch e.op {
		case "DoesNotExist":
			forbidden = true
		case "In", "Exists", "Gt", "Lt":
			needs = true
		}
	}
	if !needs {
		return true // no label at all
	}
	if forbidden {
		return false
	}
	from, to, ok := interval(exprs)
	if !ok {
		return false
	}
	return anyValue(exprs, from, to)
}

// interval gives the bounds, both included, that Gt and Lt leave a label's value; without any, all
// integers. It is not ok if one of them has no integer to compare with.
func interval(exprs term) (from, to int64, ok bool) {
	from, to = math.MinInt64, math.MaxInt64
	for _, e := range exprs {
		if e.op != "Gt" && e.op != "Lt" {
			continue
		}
		if len(e.values) != 1 {
			return 0, 0, false
		}
		bound, err := strconv.ParseInt(e.values[0], 10, 64)
		if err != nil {
			return 0, 0, false
		}
		// The value of a label begins with a letter or a digit, so none is negative.
		switch {
		case e.op == "Gt" && bound == math.MaxInt64, e.op == "Lt" && bound <= 0:
			return 0, 0, false
		case e.op == "Gt":
			from = max(from, bound+1)
		default:
			to = min(to, bound-1)
		}
	}
	return from, to, from <= to
}

// anyValue says whether there is a value in all In, in no NotIn, and in the interval. Without an In
// there is: of all values, and of the many spellings of an integer (5, 05, 005), NotIn excludes only
// some.
func anyValue(exprs term, from, to int64) bool {
	i := slices.IndexFunc(exprs, func(e *expression) bool { return e.op == "In" })
	if i < 0 {
		return true
	}
	return slices.ContainsFunc(exprs[i].values, func(v string) bool {
		return !slices.ContainsFunc(exprs, func(e *expression) bool { return !e.allows(v, from, to) })
	})
}

// allows says whether the expression is satisfied by a value.
func (e *expression) allows(v string, from, to int64) bool {
	switch e.op {
	case "In":
		return slices.Contains(e.values, v)
	case "NotIn":
		return !slices.Contains(e.values, v)
	case "Gt", "Lt":
		n, err := strconv.ParseInt(v, 10, 64)
		return err == nil && from <= n && n <= to
	default:
		return true
	}
}
