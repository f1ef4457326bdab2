package profile

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	tests := []struct {
		glob   Glob
		match  []string
		others []string
	}{
		{"team-a", []string{"team-a"}, []string{"not-team-a-x", "team-a-x", "not-team-a", "team-", "", "TEAM-A"}},
		{"team-*", []string{"team-", "team-a"}, []string{"not-team-a", "team", "xteam-a"}},
		{"*-ci", []string{"-ci", "a-ci"}, []string{"a-ci-b", "ci"}},
		{"*", []string{"", "a", "a/b:c"}, nil},
		{"**", []string{"", "a"}, nil},
		{"a*b", []string{"ab", "acb", "abb", "abab"}, []string{"a", "b", "aba", "bab"}},
		{"a*a", []string{"aa", "aba"}, []string{"a"}},
		{"ab*ba", []string{"abba", "abxba"}, []string{"aba"}},
		{"*a*b*", []string{"ab", "xaxbx"}, []string{"ba", "bbaa"}},
		{"a*b*b", []string{"abb", "abxb"}, []string{"ab"}},
		{"repo:shop/*:ref:*", []string{"repo:shop/web:ref:main"}, []string{"repo:other/web:ref:main", "xrepo:shop/web:ref:main"}},
		{"a.c", []string{"a.c"}, []string{"abc"}},
		{"a?", []string{"a?"}, []string{"ab"}},
		{"[ab]", []string{"[ab]"}, []string{"a"}},
		{"^a.*$", []string{"^a.$"}, []string{"a"}},
		{"", []string{""}, []string{"a"}},
	}
	for _, test := range tests {
		for _, name := range test.match {
			if !test.glob.Match(name) {
				t.Errorf("%q does not match %q", test.glob, name)
			}
		}
		for _, name := range test.others {
			if test.glob.Match(name) {
				t.Errorf("%q matches %q", test.glob, name)
			}
		}
	}
}

// TestGlobLaw compares with a regular expression that says the same.
func TestGlobLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab*]{0,8}`).Draw(t, "glob")
		name := rapid.StringMatching(`[ab]{0,10}`).Draw(t, "name")
		want := regexp.MustCompile(`^` + strings.ReplaceAll(glob, "*", ".*") + `$`).MatchString(name)
		if got := Glob(glob).Match(name); got != want {
			t.Fatalf("%q and %q: %t", glob, name, got)
		}
	})
}
