package kube

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quotaPart is where the words of the API server's quota admission begin:
//
//	exceeded quota: NAME, requested: cpu=3,pods=1, used: cpu=0,pods=4, limited: cpu=2,pods=5
const quotaPart = "exceeded quota: "

// overQuota gives the part of a refusal that speaks of a quota.
func overQuota(message string) (words string, over bool) {
	_, words, over = strings.Cut(message, quotaPart)
	if !over {
		return "", false
	}
	return quotaPart + words, true
}

// tooSmall names the first resource of which more is requested than the quota has in all, with both
// numbers. Quantities are printed in whatever unit is shortest (3k, 500m), so they are parsed.
func tooSmall(words string) (resourceName, requested, limited string, found bool) {
	ask, hard := quantities(words, "requested: ", ", used: "), quantities(words, ", limited: ", "")
	for _, a := range ask {
		for _, h := range hard {
			if a.name != h.name {
				continue
			}
			p, errP := resource.ParseQuantity(a.value)
			q, errQ := resource.ParseQuantity(h.value)
			if errP == nil && errQ == nil && p.Cmp(q) > 0 {
				return a.name, a.value, h.value, true
			}
		}
	}
	return "", "", "", false
}

type named struct{ name, value string }

// quantities reads NAME=QUANTITY,... between two marks, up to the end if there is no second one.
func quantities(words, from, to string) []named {
	_, list, found := strings.Cut(words, from)
	if !found {
		return nil
	}
	if to != "" {
		list, _, _ = strings.Cut(list, to)
	}
	var all []named
	for item := range strings.SplitSeq(list, ",") {
		if name, value, ok := strings.Cut(strings.TrimSpace(item), "="); ok {
			all = append(all, named{name, value})
		}
	}
	return all
}
