package finding

import "strings"

// Nearest returns the known word that a typing error away from word would be: at most two
// edits, and no more than half of its letters. Of equally near ones, the first.
func Nearest(word string, known []string) (string, bool) {
	best, found := "", 3
	for _, k := range known {
		if abs(len(word)-len(k)) > 2 {
			continue
		}
		if d := edits(word, k); d < found && 2*d <= len(k) {
			best, found = k, d
		}
	}
	if best == "" { // a mis-cased word may be many letters away
		for _, k := range known {
			if strings.EqualFold(strings.ReplaceAll(word, "_", ""), strings.ReplaceAll(k, "_", "")) {
				return k, true
			}
		}
	}
	return best, best != ""
}

// DidYouMean is a fix that names the nearest known word, or what is given if none is near.
func DidYouMean(word string, known []string, otherwise string) string {
	if near, ok := Nearest(word, known); ok && near != word {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// Either names alternatives: "a, b or c".
func Either(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func abs(n int) int { return max(n, -n) }

// edits is the Levenshtein distance: how many bytes to insert, delete or replace.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
