package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

const (
	updateStep = `UPDATE steps SET state = ? WHERE run = ? AND id = ?`
	// endStep writes no row if the step had ended before, so that none is counted twice.
	endStep     = `UPDATE steps SET state = ?, ended = 1 WHERE run = ? AND id = ? AND ended = 0`
	updateRun   = `UPDATE runs SET events = events + ?, steps_ended = steps_ended + ? WHERE id = ? RETURNING events`
	changeRun   = `UPDATE runs SET events = events + ?, steps_ended = steps_ended + ?, status = ?, ended = ?, state = ? WHERE id = ? RETURNING events`
	insertEvent = `INSERT INTO events (run, number, entry) VALUES (?,?,?)`
	startOne    = `INSERT OR REPLACE INTO commands (run, step, attempt, kind, command) VALUES (?,?,?,?,?)`
	finishOne   = `DELETE FROM commands WHERE run = ? AND step = ? AND attempt = ? AND kind = ?`
	readEpoch   = `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch'`
)

// often are the statements of which a transaction has many.
var often = []string{updateStep, endStep, updateRun, changeRun, insertEvent, startOne, finishOne, readEpoch, insertStep, insertSpec}

// Commit records transitions, all or none.
func (s *Store) Commit(ctx context.Context, e store.Epoch, all []store.Transition) error {
	return s.explain("write", s.transact(ctx, func(tx *transaction) error {
		if err := leads(tx, e); err != nil {
			return err
		}
		tx.about = []matter{ofRuns}
		for i := range all {
			if err := commit(tx, &all[i]); err != nil {
				return err
			}
		}
		return nil
	}))
}

func commit(tx *transaction, t *store.Transition) error {
	ended := 0
	for _, step := range t.Steps {
		newly, err := commitStep(tx, t.Run, step)
		if err != nil {
			return err
		}
		ended += newly
	}
	last, err := header(tx, t, ended)
	if err != nil {
		return err
	}
	for _, c := range t.Started {
		if _, err := tx.exec(startOne, t.Run, c.Step, c.Attempt, string(c.Kind), encode(c)); err != nil {
			return err
		}
	}
	for _, c := range t.Done {
		if _, err := tx.exec(finishOne, t.Run, c.Step, c.Attempt, string(c.Kind)); err != nil {
			return err
		}
	}
	for _, c := range t.Cluster {
		if _, err := tx.exec(`INSERT INTO attempts (run, step, number, cluster) VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET cluster = excluded.cluster`,
			t.Run, c.Step, c.Attempt, encode(c.Origins)); err != nil {
			return err
		}
	}
	return events(tx, t.Run, last, t.Entries)
}

// header changes the run's own row, and gives the number of its last event before.
func header(tx *transaction, t *store.Transition, ended int) (int64, error) {
	var now int64
	n := len(t.Entries)
	if t.State == nil {
		err := tx.row(updateRun, n, ended, t.Run).Scan(&now)
		return now - int64(n), noRun(err)
	}
	over := t.State.Status.Ended()
	err := tx.row(changeRun, n, ended, string(t.State.Status), number(over), encode(t.State), t.Run).Scan(&now)
	if err == nil && over {
		_, err = tx.exec(`DELETE FROM cancels WHERE run = ?`, t.Run)
	}
	return now - int64(n), noRun(err)
}

// commitStep writes a step, and says whether it has ended with that: 1 or 0.
func commitStep(tx *transaction, id string, step *run.Step) (int, error) {
	if step.Attempt != nil && step.Attempt.Number > 1 {
		if err := keep(tx, id, step); err != nil {
			return 0, err
		}
	}
	state := encode(step)
	if step.Status.Ended() {
		if n, err := tx.exec(endStep, state, id, step.ID); n == 1 || err != nil {
			return int(n), err
		}
	}
	n, err := tx.exec(updateStep, state, id, step.ID)
	if n == 0 && err == nil {
		err = missing(tx, id, step.ID)
	}
	return 0, err
}

// missing says what there is not.
func missing(tx *transaction, id, step string) error {
	var run string
	if err := tx.row(`SELECT id FROM runs WHERE id = ?`, id).Scan(&run); err != nil {
		return noRun(err)
	}
	return fmt.Errorf("run %s has no step %s", id, step)
}

// keep keeps the attempt that the step's current one follows.
func keep(tx *transaction, id string, step *run.Step) error {
	var data []byte
	err := tx.row(`SELECT state FROM steps WHERE run = ? AND id = ?`, id, step.ID).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) { // which the update finds out
		return nil
	}
	var before run.Step
	if err == nil {
		err = json.Unmarshal(data, &before)
	}
	if err != nil || before.Attempt == nil || before.Attempt.Number == step.Attempt.Number {
		return err
	}
	_, err = tx.exec(`INSERT INTO attempts (run, step, number, state) VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET state = excluded.state`,
		id, step.ID, before.Attempt.Number, encode(before.Attempt))
	return err
}

func events(tx *transaction, id string, last int64, all []run.Entry) error {
	for i := range all {
		if _, err := tx.exec(insertEvent, id, last+int64(i)+1, encode(all[i])); err != nil {
			return err
		}
	}
	return nil
}
