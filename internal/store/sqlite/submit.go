package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

const (
	insertStep = `INSERT INTO steps (run, id, ordinal, ended, state) VALUES (?,?,?,?,?)`
	insertSpec = `INSERT INTO specs (run, id, slim, spec, origins) VALUES (?,?,?,?,?)`
)

// Submit records a run.
func (s *Store) Submit(ctx context.Context, sub store.Submission) error {
	return s.explain("write", s.transact(ctx, func(tx *transaction) error {
		tx.about = []matter{ofRuns, ofLeaders}
		return submit(tx, &sub)
	}))
}

func submit(tx *transaction, sub *store.Submission) error {
	var pipeline, environment string
	var head []byte
	if p := sub.Plan; p != nil {
		pipeline, environment = p.Pipeline, p.Environment
		bare := *p
		bare.Steps = nil
		head = encode(bare)
	}
	ended := 0
	for _, step := range sub.State.Steps {
		ended += number(step.Status.Ended())
	}
	n, err := tx.exec(`INSERT INTO runs (id, submitted, pipeline, environment, target, source, status, ended, events, steps, steps_ended, state)
		VALUES (?, 1 + (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'submitted'), ?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`,
		sub.ID, pipeline, environment, sub.Target, sub.Source, string(sub.State.Status), number(sub.State.Status.Ended()),
		len(sub.Entries), len(sub.State.Steps), ended, encode(sub.State))
	if err != nil {
		return err
	}
	if n == 0 {
		return store.ErrExists
	}
	if _, err := tx.exec(`UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'submitted'`); err != nil {
		return err
	}
	if sub.Setup == nil {
		sub.Setup = []byte("{}")
	}
	_, err = tx.exec(`INSERT INTO submissions (run, setup, plan, findings) VALUES (?,?,?,?)`, sub.ID, sub.Setup, head, encode(sub.Findings))
	if err != nil {
		return err
	}
	if err := submitSteps(tx, sub); err != nil {
		return err
	}
	return events(tx, sub.ID, 0, sub.Entries)
}

func submitSteps(tx *transaction, sub *store.Submission) error {
	if len(sub.State.Steps) == 0 {
		return nil
	}
	if sub.Plan == nil || len(sub.Plan.Steps) != len(sub.State.Steps) {
		return fmt.Errorf("the state of run %s is not of its plan", sub.ID)
	}
	slim := run.Slim(sub.Plan)
	var p packer
	for i, step := range sub.State.Steps {
		spec := sub.Plan.Steps[i]
		origins, err := p.pack(spec.Pod.Origins)
		if err != nil {
			return err
		}
		spec.Pod.Origins = nil
		if _, err := tx.exec(insertStep, sub.ID, spec.ID, i, number(step.Status.Ended()), encode(step)); err != nil {
			return err
		}
		if _, err := tx.exec(insertSpec, sub.ID, spec.ID, encode(slim.Steps[i]), encode(spec), origins); err != nil {
			return err
		}
	}
	return nil
}

const readSpec = `SELECT spec FROM specs WHERE run = ? AND id = ?`

// Spec gives a step of a run's plan, without origins.
func (s *Store) Spec(ctx context.Context, id, step string) (*plan.Step, error) {
	var data []byte
	var spec plan.Step
	err := s.read.QueryRowContext(ctx, readSpec, id, step).Scan(&data)
	if err == nil {
		err = json.Unmarshal(data, &spec)
	}
	if err != nil {
		return nil, s.explain("read", noRun(err))
	}
	return &spec, nil
}

func noRun(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNoRun
	}
	return err
}

// encode gives the JSON of what always has one.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// number is what SQLite has for a boolean.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
