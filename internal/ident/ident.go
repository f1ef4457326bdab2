// Package ident says what a name may be. A name that was checked once is trusted from then on: it can
// stand in a pod's name, a label or an environment variable without another look.
//
// An error says what is wrong with the name, in words that fit after it: "has an upper-case letter".
package ident

import (
	"errors"
	"fmt"
	"strings"
)

// Label says what keeps s from being a DNS label of at most most characters: lower-case letters, digits
// and hyphens, with a letter or digit at both ends (RFC 1123).
func Label(s string, most int) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > most:
		return fmt.Errorf("has %d characters, and %d are the most", len(s), most)
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-':
		case r >= 'A' && r <= 'Z':
			return fmt.Errorf("has an upper-case letter (%c)", r)
		default:
			return fmt.Errorf("has %q in it: only lower-case letters, digits and hyphens may be", r)
		}
	}
	if s[0] == '-' || s[len(s)-1] == '-' {
		return errors.New("begins or ends with a hyphen")
	}
	return nil
}

// Subdomain says what keeps s from being a DNS subdomain, as the names of Secrets and service accounts
// are: labels joined by dots, up to 253 characters in all.
func Subdomain(s string) error {
	const most = 253
	if len(s) > most {
		return fmt.Errorf("has %d characters, and %d are the most", len(s), most)
	}
	for part := range strings.SplitSeq(s, ".") {
		if err := Label(part, most); err != nil {
			return err
		}
	}
	return nil
}

// Variable says what keeps s from being the name of an environment variable that every shell can read.
func Variable(s string) error {
	if s == "" {
		return errors.New("is empty")
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_':
		case r >= '0' && r <= '9' && i > 0:
		case r >= '0' && r <= '9':
			return errors.New("begins with a digit")
		default:
			return fmt.Errorf("has %q in it: only letters, digits and underscores may be", r)
		}
	}
	return nil
}

// SecretKey says what keeps s from being a key of a Secret.
func SecretKey(s string) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > 253:
		return fmt.Errorf("has %d characters, and 253 are the most", len(s))
	case s == "." || strings.HasPrefix(s, ".."):
		return errors.New("is a path")
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)) {
			return fmt.Errorf("has %q in it: only letters, digits, hyphens, underscores and dots may be", r)
		}
	}
	return nil
}

// Slug is text as a part of a DNS label: letters in lower case, and a hyphen for each run of what a
// label may not have. It is empty if nothing is left.
func Slug(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}
