package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

func recordsOf(which string) string {
	return `SELECT id, pipeline, environment, target, source, status, steps, steps_ended, state FROM runs WHERE id IN (` + which + `) ORDER BY id`
}

// scanRecord reads a row of recordsOf.
func scanRecord(rows *sql.Rows) (*store.Detail, error) {
	d := &store.Detail{State: &run.State{}}
	err := rows.Scan(&d.ID, &d.Pipeline, &d.Environment, &d.Target, &d.Source, &d.Status, &d.Steps, &d.Ended, into(d.State))
	d.CreatedAt, d.StartedAt, d.EndedAt = d.State.CreatedAt, d.State.StartedAt, d.State.EndedAt
	return d, err
}

const (
	usualMost  = 50
	readLast   = `SELECT events FROM runs WHERE id = ?`
	readEvents = `SELECT number, entry FROM events WHERE run = ? AND number > ? ORDER BY number LIMIT ?`
)

// Runs lists runs, the newest first.
func (s *Store) Runs(ctx context.Context, q store.Query) ([]store.Record, error) {
	if q.Most <= 0 {
		q.Most = usualMost
	}
	which, args := newest(q)
	var all []store.Record
	err := each(ctx, s.read, func(rows *sql.Rows) error {
		d, err := scanRecord(rows)
		all = append(all, d.Record)
		return err
	}, recordsOf(which)+` DESC LIMIT ?`, append(args, q.Most)...)
	if err != nil {
		return nil, s.explain("read", err)
	}
	return all, nil
}

// newest selects the ids of the newest runs of each status that is asked for. Each part is read from the end of
// an index, and ends after as many as are wanted.
func newest(q store.Query) (string, []any) {
	var parts []string
	var args []any
	if len(q.Status) == 0 {
		q.Status = []run.Status{""} // any
	}
	for _, status := range q.Status {
		where := []string{"id < ?"}
		args = append(args, upTo(q.Before))
		if q.Pipeline != "" {
			where, args = append(where, "pipeline = ?"), append(args, q.Pipeline)
		}
		if status != "" {
			where, args = append(where, "status = ?"), append(args, string(status))
		}
		args = append(args, q.Most)
		parts = append(parts, `SELECT * FROM (SELECT id FROM runs WHERE `+strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?)`)
	}
	return strings.Join(parts, " UNION ALL "), args
}

// upTo is an id that those before it are less than: every id is, if none is given.
func upTo(before string) string {
	if before == "" {
		return "\x7f"
	}
	return before
}

// mostAlike bounds how many runs an ambiguous beginning is answered with.
const mostAlike = 20

// Run gives a run by its id, or by a beginning of it.
func (s *Store) Run(ctx context.Context, id string) (*store.Detail, error) {
	id = strings.ToUpper(id)
	if id == "" {
		return nil, store.ErrNoRun
	}
	var all []*store.Detail
	err := s.look(ctx, func(tx *sql.Tx) error {
		full, err := complete(ctx, tx, id)
		if err == nil {
			all, err = load(ctx, tx, `SELECT ?`, full)
		}
		return err
	})
	if err != nil {
		return nil, s.explain("read", err)
	}
	return all[0], nil
}

// complete finds the one run whose id begins like that.
func complete(ctx context.Context, tx *sql.Tx, id string) (string, error) {
	var ids []string
	err := each(ctx, tx, func(rows *sql.Rows) error {
		ids = append(ids, "")
		return rows.Scan(&ids[len(ids)-1])
	}, `SELECT id FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`, id, id+"\x7f", mostAlike)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", store.ErrNoRun
	case len(ids) > 1 && ids[0] != id:
		return "", &store.AmbiguousError{IDs: ids}
	}
	return ids[0], nil
}

// Origins gives those of the plan, and then those of the cluster.
func (s *Store) Origins(ctx context.Context, ref run.Ref) ([]placement.Origin, error) {
	var planned, cluster []placement.Origin
	err := s.read.QueryRowContext(ctx, `SELECT p.origins, a.cluster FROM specs p LEFT JOIN attempts a ON a.run = p.run AND a.step = p.id AND a.number = ?
		WHERE p.run = ? AND p.id = ?`, ref.Attempt, ref.Run, ref.Step).Scan(packed{&planned}, into(&cluster))
	if err != nil {
		return nil, s.explain("read", noRun(err))
	}
	return slices.Concat(planned, cluster), nil
}

// Events gives the run's event log after a number.
func (s *Store) Events(ctx context.Context, id string, after int64, most int) ([]store.Event, error) {
	var all []store.Event
	err := each(ctx, s.read, func(rows *sql.Rows) error {
		var e store.Event
		if err := rows.Scan(&e.Number, into(&e.Entry)); err != nil {
			return err
		}
		all = append(all, e)
		return nil
	}, readEvents, id, after, max(0, most))
	if err != nil {
		return nil, s.explain("read", err)
	}
	return all, nil
}

// Wait waits until the run's event log has something after a number.
func (s *Store) Wait(ctx context.Context, id string, after int64) error {
	return s.explain("read", s.written.until(ctx, ofRuns, func() (bool, error) {
		var last int64
		err := s.read.QueryRowContext(ctx, readLast, id).Scan(&last)
		return last > after, noRun(err)
	}))
}
