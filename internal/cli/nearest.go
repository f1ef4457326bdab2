package cli

// nearest returns the known word that a typing error away from word would be: at most two
// edits, and no more than half of its letters. Of equally near ones, the first.
func nearest(word string, known []string) (string, bool) {
	best, found := "", 3
	for _, k := range known {
		if d := edits(word, k); d < found && 2*d <= len(k) {
			best, found = k, d
		}
	}
	return best, best != ""
}

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
