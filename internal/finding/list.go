package finding

import (
	"encoding/json"
	"slices"
)

// List collects findings. The zero List is empty and ready to use; a List that was copied shares
// nothing with its original that adding to either would show.
type List struct {
	sorted []Finding // by compare, each once
}

// Of is the list of the given findings.
func Of(findings ...Finding) List {
	var l List
	l.Add(findings...)
	return l
}

// Add adds findings; those that are there already are not added again.
func (l *List) Add(findings ...Finding) {
	if len(findings) == 0 {
		return
	}
	all := make([]Finding, 0, len(l.sorted)+len(findings))
	all = append(append(all, l.sorted...), findings...)
	slices.SortFunc(all, compare)
	l.sorted = slices.Compact(all)
}

// Join adds all of another list.
func (l *List) Join(other List) { l.Add(other.sorted...) }

// All gives the findings in order of position. The slice is the caller's own.
func (l List) All() []Finding { return slices.Clone(l.sorted) }

// Len counts the findings.
func (l List) Len() int { return len(l.sorted) }

// HasErrors says whether what the findings are about is refused.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l.sorted, func(f Finding) bool { return f.Severity == Error })
}

// In gives the findings again, as being about the given file, where they name none.
func (l List) In(file string) List {
	all := l.All()
	for i := range all {
		if all[i].File == "" {
			all[i].File = file
		}
	}
	return Of(all...)
}

// MarshalJSON writes an array, empty rather than null.
func (l List) MarshalJSON() ([]byte, error) {
	if l.sorted == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(l.sorted)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *List) UnmarshalJSON(data []byte) error {
	var findings []Finding
	if err := json.Unmarshal(data, &findings); err != nil {
		return err
	}
	*l = Of(findings...)
	return nil
}
