package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Submit records a run.
func (s *Store) Submit(ctx context.Context, sub store.Submission) error {
	err := s.transact(ctx, func(tx *sql.Tx) error { return submit(ctx, tx, sub) })
	if errors.Is(err, store.ErrExists) {
		return err
	}
	return s.explain("write", err)
}

func submit(ctx context.Context, tx *sql.Tx, sub store.Submission) error {
	header := map[string]string{}
	var head []byte
	if p := sub.Plan; p != nil {
		header["pipeline"], header["environment"] = p.Pipeline, p.Environment
		bare := *p
		bare.Steps = nil
		head = encode(bare)
	}
	ended := 0
	if sub.State.Status.Ended() {
		ended = 1
	}
	if sub.Setup == nil {
		sub.Setup = []byte("{}")
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,0,?,?,?,?) ON CONFLICT DO NOTHING`,
		sub.ID, header["pipeline"], header["environment"], sub.Target, sub.Source, sub.Setup, string(sub.State.Status), ended,
		len(sub.Entries), head, encode(sub.State), encode(sub.Findings))
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, store.ErrExists)
	}
	if err := submitSteps(ctx, tx, sub); err != nil {
		return err
	}
	return events(ctx, tx, sub.ID, 0, sub.Entries)
}

func submitSteps(ctx context.Context, tx *sql.Tx, sub store.Submission) error {
	if sub.Plan == nil || len(sub.State.Steps) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO steps VALUES (?,?,?,0,?,?,?,?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	slim := run.Slim(sub.Plan)
	for i := range sub.Plan.Steps {
		spec := sub.Plan.Steps[i]
		origins := spec.Pod.Origins
		spec.Pod.Origins = nil
		if _, err := insert.ExecContext(ctx, sub.ID, i, spec.ID, encode(sub.State.Steps[i]), encode(slim.Steps[i]), encode(spec), encode(origins)); err != nil {
			return err
		}
	}
	return nil
}

// Cancel records that someone wants the run to end.
func (s *Store) Cancel(ctx context.Context, id string, c run.Cancel) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		var ended bool
		if err := tx.QueryRowContext(ctx, `SELECT ended FROM runs WHERE id = ?`, id).Scan(&ended); err != nil {
			return noRun(err)
		}
		if ended {
			return nil
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO cancels VALUES (?,?,0) ON CONFLICT DO NOTHING`, id, encode(c))
		return err
	})
	if errors.Is(err, store.ErrNoRun) {
		return err
	}
	return s.explain("write", err)
}

func noRun(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNoRun
	}
	return err
}

// Spec gives a step of a run's plan, without origins.
func (s *Store) Spec(ctx context.Context, id, step string) (*plan.Step, error) {
	var data []byte
	if err := s.read.QueryRowContext(ctx, `SELECT spec FROM steps WHERE run = ? AND id = ?`, id, step).Scan(&data); err != nil {
		return nil, s.explain("read", noRun(err))
	}
	var spec plan.Step
	return &spec, json.Unmarshal(data, &spec)
}

// encode gives the JSON of what always has one.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
