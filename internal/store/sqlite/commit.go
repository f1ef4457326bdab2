package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// transact makes one transaction of what do does, and tells those who wait that something was written.
func (s *Store) transact(ctx context.Context, do func(*sql.Tx) error) error {
	if s.readOnly {
		return errors.New("it was opened to be read")
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	return nil
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Commit records transitions, all or none.
func (s *Store) Commit(ctx context.Context, e store.Epoch, all []store.Transition) error {
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if err := leads(ctx, tx, e); err != nil {
			return err
		}
		for i := range all {
			if err := commit(ctx, tx, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrDeposed) || errors.Is(err, store.ErrNoRun) {
		return err
	}
	return s.explain("write", err)
}

func leads(ctx context.Context, tx *sql.Tx, e store.Epoch) error {
	var now int64
	if err := tx.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'epoch'`).Scan(&now); err != nil {
		return err
	}
	if store.Epoch(now) != e {
		return store.ErrDeposed
	}
	return nil
}

func commit(ctx context.Context, tx *sql.Tx, t *store.Transition) error {
	last, err := header(ctx, tx, t)
	if err != nil {
		return err
	}
	for _, step := range t.Steps {
		if err := commitStep(ctx, tx, t.Run, step); err != nil {
			return err
		}
	}
	for _, c := range t.Started {
		if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO commands VALUES (?,?,?,?,?)`, t.Run, c.Step, c.Attempt, string(c.Kind), encode(c)); err != nil {
			return err
		}
	}
	for _, c := range t.Done {
		if _, err := tx.ExecContext(ctx, `DELETE FROM commands WHERE run = ? AND step = ? AND attempt = ? AND kind = ?`, t.Run, c.Step, c.Attempt, string(c.Kind)); err != nil {
			return err
		}
	}
	for _, c := range t.Cluster {
		if _, err := tx.ExecContext(ctx, `INSERT INTO attempts VALUES (?,?,?,NULL,?) ON CONFLICT DO UPDATE SET cluster = excluded.cluster`,
			t.Run, c.Step, c.Attempt, encode(c.Origins)); err != nil {
			return err
		}
	}
	if len(t.Started)+len(t.Done) > 0 {
		if _, err := tx.ExecContext(ctx, `UPDATE runs SET open = (SELECT count(*) FROM commands WHERE run = ?1) WHERE id = ?1`, t.Run); err != nil {
			return err
		}
	}
	return events(ctx, tx, t.Run, last, t.Entries)
}

// header changes the run's own row, and gives the number of its last event before.
func header(ctx context.Context, tx *sql.Tx, t *store.Transition) (int64, error) {
	var now int64
	var err error
	if t.State == nil {
		err = tx.QueryRowContext(ctx, `UPDATE runs SET events = events + ? WHERE id = ? RETURNING events`, len(t.Entries), t.Run).Scan(&now)
	} else {
		ended := 0
		if t.State.Status.Ended() {
			ended = 1
		}
		err = tx.QueryRowContext(ctx, `UPDATE runs SET events = events + ?, status = ?, ended = ?, state = ? WHERE id = ? RETURNING events`,
			len(t.Entries), string(t.State.Status), ended, encode(t.State), t.Run).Scan(&now)
		if err == nil && ended == 1 {
			_, err = tx.ExecContext(ctx, `DELETE FROM cancels WHERE run = ?`, t.Run)
		}
	}
	return now - int64(len(t.Entries)), noRun(err)
}

func commitStep(ctx context.Context, tx *sql.Tx, id string, step *run.Step) error {
	if step.Attempt != nil && step.Attempt.Number > 1 && step.Attempt.Status == run.Requested {
		if err := over(ctx, tx, id, step); err != nil {
			return err
		}
	}
	ended := 0
	if step.Status.Ended() {
		ended = 1
	}
	done, err := tx.ExecContext(ctx, `UPDATE steps SET ended = ?, state = ? WHERE run = ? AND id = ?`, ended, encode(step), id, step.ID)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("the run %s has no step %s", id, step.ID))
	}
	return nil
}

// over keeps the attempt that a new one follows.
func over(ctx context.Context, tx *sql.Tx, id string, step *run.Step) error {
	var data []byte
	if err := tx.QueryRowContext(ctx, `SELECT state FROM steps WHERE run = ? AND id = ?`, id, step.ID).Scan(&data); err != nil {
		return err
	}
	before, err := decodeStep(data)
	if err != nil || before.Attempt == nil || before.Attempt.Number == step.Attempt.Number {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO attempts VALUES (?,?,?,?,NULL) ON CONFLICT DO UPDATE SET state = excluded.state`,
		id, step.ID, before.Attempt.Number, encode(before.Attempt))
	return err
}

func events(ctx context.Context, tx *sql.Tx, id string, last int64, all []run.Entry) error {
	for i, e := range all {
		if _, err := tx.ExecContext(ctx, `INSERT INTO events VALUES (?,?,?)`, id, last+int64(i)+1, encode(e)); err != nil {
			return err
		}
	}
	return nil
}
