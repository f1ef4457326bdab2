package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Nothing that grows with all that there ever was is read from end to end, or sorted.
func TestNoQueryScans(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "berth.db")})
	must(t, err)
	defer s.Close()
	runs := func(q store.Query) (string, []any) {
		which, args := newest(q)
		return recordsOf(which), args
	}
	plan := func(want, query string, args ...any) {
		t.Helper()
		var got strings.Builder
		must(t, each(t.Context(), s.read, func(rows *sql.Rows) error {
			var id, parent, unused int
			var does string
			err := rows.Scan(&id, &parent, &unused, &does)
			got.WriteString(does + "\n")
			return err
		}, `EXPLAIN QUERY PLAN `+query, args...))
		if !strings.Contains(got.String(), want) {
			t.Errorf("%s\n%swithout %q", query, got.String(), want)
		}
		for line := range strings.Lines(got.String()) {
			table, scans := strings.CutPrefix(line, "SCAN ")
			// What is undone is as much as is active.
			small := strings.HasPrefix(table, "commands") || strings.HasPrefix(table, "(subquery") || strings.HasPrefix(table, "CONSTANT")
			if scans && !small || strings.HasPrefix(line, "USE TEMP B-TREE") {
				t.Errorf("%s\n%s", query, line)
			}
		}
	}
	plan("PRIMARY KEY (run=? AND number>?)", readEvents, "", 0, 1)
	plan("runs_to_take_up", readSubmitted, "")
	plan("runs_to_do", recordsOf(toDo), "here")
	plan("runs_to_do", stepsOf(toDo), "here")
	plan("PRIMARY KEY", stepsOf(`SELECT ?`), "")
	for want, q := range map[string]store.Query{
		"PRIMARY KEY (id<?)":                     {},
		"runs_of_pipeline (pipeline=? AND id<?)": {Pipeline: "a"},
		"runs_of_status (status=? AND id<?)":     {Status: []run.Status{run.Failed}},
		"(pipeline=? AND status=? AND id<?)":     {Pipeline: "a", Status: []run.Status{run.Failed}},
		"COMPOUND QUERY":                         {Pipeline: "a", Status: []run.Status{run.Failed, run.Running}, Before: "b"},
	} {
		query, args := runs(q)
		plan(want, query, args...)
	}
}
