package ident

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// longestLabel is how long a DNS label may be.
const longestLabel = 63

// PodName is the name of an attempt's pod: a function of step, run and attempt, unique for ever, since the
// run's id is. step is a DNS label, run a ULID, attempt counts from 1. It is a DNS label as well, since a
// pod's name becomes its hostname; a step's name that is too long for that is cut, with a hash of it.
func PodName(step, run string, attempt int) string {
	rest := "-" + strings.ToLower(run) + "-" + strconv.Itoa(attempt)
	return Shorten(step, longestLabel-len(rest)) + rest
}

// Shorten is a DNS label of at most so many characters, at least 10, that stands for a longer one: its
// beginning, with a hash of all of it.
func Shorten(label string, most int) string {
	if len(label) <= most {
		return label
	}
	sum := fmt.Sprintf("-%x", sha256.Sum256([]byte(label)))[:9]
	return strings.TrimRight(label[:most-len(sum)], "-") + sum
}
