package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

const record = `id, pipeline, environment, target, source, setup, status, plan, state, findings,
	(SELECT count(*) FROM steps WHERE run = runs.id), (SELECT count(*) FROM steps WHERE run = runs.id AND steps.ended = 1)`

// Load gives the runs of a target with which there is something left to do.
func (s *Store) Load(ctx context.Context, target string) ([]store.Active, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+record+` FROM runs WHERE target = ? AND (ended = 0 OR open > 0) ORDER BY id`, target)
	if err != nil {
		return nil, s.explain("read", err)
	}
	details, err := scanRuns(rows)
	if err != nil {
		return nil, s.explain("read", err)
	}
	all := make([]store.Active, len(details))
	for i := range details {
		if err := s.fill(ctx, &details[i]); err != nil {
			return nil, s.explain("read", err)
		}
		all[i].Detail = details[i]
		if all[i].Commands, err = s.commands(ctx, details[i].ID); err != nil {
			return nil, s.explain("read", err)
		}
	}
	return all, nil
}

// scanRuns reads rows of record, without steps.
func scanRuns(rows *sql.Rows) ([]store.Detail, error) {
	defer rows.Close()
	var all []store.Detail
	for rows.Next() {
		var d store.Detail
		var status string
		var head, state, findings []byte
		if err := rows.Scan(&d.ID, &d.Pipeline, &d.Environment, &d.Target, &d.Source, &d.Setup, &status, &head, &state, &findings, &d.Steps, &d.Ended); err != nil {
			return nil, err
		}
		d.State = &run.State{}
		if err := json.Unmarshal(state, d.State); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(findings, &d.Findings); err != nil {
			return nil, err
		}
		if head != nil {
			d.Plan = &plan.Plan{}
			if err := json.Unmarshal(head, d.Plan); err != nil {
				return nil, err
			}
		}
		d.Status, d.CreatedAt, d.StartedAt, d.EndedAt = run.Status(status), d.State.CreatedAt, d.State.StartedAt, d.State.EndedAt
		all = append(all, d)
	}
	return all, rows.Err()
}

// fill adds the steps, and the attempts that are over.
func (s *Store) fill(ctx context.Context, d *store.Detail) error {
	rows, err := s.read.QueryContext(ctx, `SELECT state, slim FROM steps WHERE run = ? ORDER BY ordinal`, d.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var state, slim sql.RawBytes
		if err := rows.Scan(&state, &slim); err != nil {
			return err
		}
		step, err := decodeStep(state)
		if err != nil {
			return err
		}
		d.State.Steps = append(d.State.Steps, step)
		var p plan.Step
		if err := json.Unmarshal(slim, &p); err != nil {
			return err
		}
		if d.Plan != nil {
			d.Plan.Steps = append(d.Plan.Steps, p)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.attempts(ctx, d)
}

func decodeStep(data []byte) (*run.Step, error) {
	var step run.Step
	return &step, json.Unmarshal(data, &step)
}

func (s *Store) attempts(ctx context.Context, d *store.Detail) error {
	rows, err := s.read.QueryContext(ctx, `SELECT step, state FROM attempts WHERE run = ? AND state IS NOT NULL ORDER BY step, number`, d.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var a store.Attempt
		var state []byte
		if err := rows.Scan(&a.Step, &state); err != nil {
			return err
		}
		if err := json.Unmarshal(state, &a.Attempt); err != nil {
			return err
		}
		d.Attempts = append(d.Attempts, a)
	}
	return rows.Err()
}

func (s *Store) commands(ctx context.Context, id string) ([]run.Command, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT command FROM commands WHERE run = ?`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []run.Command
	for rows.Next() {
		var data []byte
		var c run.Command
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &c); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}
