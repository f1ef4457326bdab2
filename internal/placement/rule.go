package placement

import "fmt"

// Rule is a way in which layers are merged. Every origin names the one that made its value.
type Rule int

const (
	RuleScalar Rule = iota
	RuleObject
	RuleList
	RuleKeyed
	RuleUnion
	RuleConjunction
	RuleAppend
	RuleOneOf
	RuleDelete
	RuleReplace
	RuleSeen
)

// rules has each rule's name, which is part of the JSON of origins, and what it does.
var rules = [...]struct{ name, sentence string }{
	RuleScalar:      {"scalar", "the value of the last layer that sets the field"},
	RuleObject:      {"object", "objects and maps are merged key by key"},
	RuleList:        {"list", "the whole list of the last layer that sets it"},
	RuleKeyed:       {"keyed", "items with the same key are merged, in the order of the earlier layer; new ones are appended"},
	RuleUnion:       {"union", "every layer's tolerations, each once"},
	RuleConjunction: {"conjunction", "required node affinity demands what every layer demands"},
	RuleAppend:      {"append", "every layer's items, exact duplicates once"},
	RuleOneOf:       {"one_of", "a later layer named another member of a one-of, so this one was removed"},
	RuleDelete:      {"delete", "k8s_overlay removed it"},
	RuleReplace:     {"replace", "k8s_overlay replaced the whole map or list that this was in"},
	RuleSeen:        {"seen", "what the API server stored: set by the cluster, whatever Berth had sent"},
}

// Rules gives all rules.
func Rules() []Rule {
	all := make([]Rule, len(rules))
	for i := range all {
		all[i] = Rule(i)
	}
	return all
}

// String is the rule's name.
func (r Rule) String() string {
	if r < 0 || int(r) >= len(rules) {
		return fmt.Sprintf("rule(%d)", int(r))
	}
	return rules[r].name
}

// Sentence says what the rule does.
func (r Rule) Sentence() string {
	if r < 0 || int(r) >= len(rules) {
		return ""
	}
	return rules[r].sentence
}

// MarshalText is the rule's name.
func (r Rule) MarshalText() ([]byte, error) {
	if r < 0 || int(r) >= len(rules) {
		return nil, fmt.Errorf("placement: no such rule: %d", int(r))
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads a rule's name.
func (r *Rule) UnmarshalText(text []byte) error {
	for i, rule := range rules {
		if rule.name == string(text) {
			*r = Rule(i)
			return nil
		}
	}
	return fmt.Errorf("placement: no such rule: %q", text)
}
