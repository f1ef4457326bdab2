package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// toDo selects a target's runs with which there is something left to do.
const toDo = `SELECT id FROM runs WHERE target = ?1 AND ended = 0
	UNION SELECT id FROM runs WHERE target = ?1 AND id IN (SELECT run FROM commands)`

// Load gives the runs of a target with which there is something left to do.
func (s *Store) Load(ctx context.Context, target string) ([]store.Active, error) {
	var all []store.Active
	err := s.look(ctx, func(tx *sql.Tx) error {
		details, err := load(ctx, tx, toDo, target)
		if err != nil {
			return err
		}
		all = make([]store.Active, len(details))
		byID := make(map[string]*store.Active, len(details))
		for i, d := range details {
			all[i].Detail = *d
			byID[d.ID] = &all[i]
		}
		return each(ctx, tx, func(rows *sql.Rows) error {
			var id string
			var c run.Command
			if err := rows.Scan(&id, into(&c)); err != nil {
				return err
			}
			byID[id].Commands = append(byID[id].Commands, c)
			return nil
		}, `SELECT run, command FROM commands WHERE run IN (`+toDo+`) ORDER BY run, step, attempt, kind`, target)
	})
	if err != nil {
		return nil, s.explain("read", err)
	}
	return all, nil
}

// load reads runs completely, in the order of their ids. which selects the ids.
func load(ctx context.Context, tx *sql.Tx, which string, args ...any) ([]*store.Detail, error) {
	var all []*store.Detail
	byID := map[string]*store.Detail{}
	err := each(ctx, tx, func(rows *sql.Rows) error {
		d, err := scanRecord(rows)
		if err != nil {
			return err
		}
		all = append(all, d)
		byID[d.ID] = d
		return nil
	}, recordsOf(which), args...)
	if err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context, *sql.Tx, map[string]*store.Detail, string, ...any) error{submissions, steps, attempts} {
		if err := part(ctx, tx, byID, which, args...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// submissions adds what was said once.
func submissions(ctx context.Context, tx *sql.Tx, byID map[string]*store.Detail, which string, args ...any) error {
	return each(ctx, tx, func(rows *sql.Rows) error {
		var id string
		var said store.Detail
		if err := rows.Scan(&id, &said.Setup, into(&said.Plan), into(&said.Findings)); err != nil {
			return err
		}
		d := byID[id]
		d.Setup, d.Plan, d.Findings = said.Setup, said.Plan, said.Findings
		return nil
	}, `SELECT run, setup, plan, findings FROM submissions WHERE run IN (`+which+`)`, args...)
}

func stepsOf(which string) string {
	return `SELECT s.run, s.ordinal, s.state, p.slim FROM steps s JOIN specs p ON p.run = s.run AND p.id = s.id WHERE s.run IN (` + which + `)`
}

// steps adds the states of steps, and what the graph needs of their plan.
func steps(ctx context.Context, tx *sql.Tx, byID map[string]*store.Detail, which string, args ...any) error {
	for _, d := range byID {
		if d.Steps > 0 { // and so it has a plan
			d.State.Steps, d.Plan.Steps = make([]*run.Step, d.Steps), make([]plan.Step, d.Steps)
		}
	}
	return each(ctx, tx, func(rows *sql.Rows) error {
		var id string
		var at int
		var state run.Step
		var slim plan.Step
		if err := rows.Scan(&id, &at, into(&state), into(&slim)); err != nil {
			return err
		}
		byID[id].State.Steps[at], byID[id].Plan.Steps[at] = &state, slim
		return nil
	}, stepsOf(which), args...)
}

// attempts adds those that are over.
func attempts(ctx context.Context, tx *sql.Tx, byID map[string]*store.Detail, which string, args ...any) error {
	err := each(ctx, tx, func(rows *sql.Rows) error {
		var id string
		var a store.Attempt
		if err := rows.Scan(&id, &a.Step, into(&a.Attempt)); err != nil {
			return err
		}
		byID[id].Attempts = append(byID[id].Attempts, a)
		return nil
	}, `SELECT run, step, state FROM attempts WHERE state IS NOT NULL AND run IN (`+which+`) ORDER BY run, step, number`, args...)
	for _, d := range byID {
		slices.SortStableFunc(d.Attempts, func(a, b store.Attempt) int {
			return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.Step, b.Step))
		})
	}
	return err
}

// look reads in one transaction, so that what is read belongs together.
func (s *Store) look(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return do(tx)
}

type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// each calls do for each row.
func each(ctx context.Context, q queryer, do func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// decoded is a column of JSON, to be scanned.
type decoded struct{ into any }

func into(v any) decoded { return decoded{v} }

// Scan takes nothing for the zero value.
func (d decoded) Scan(column any) error {
	data, _ := column.([]byte)
	if data == nil {
		return nil
	}
	return json.Unmarshal(data, d.into)
}
