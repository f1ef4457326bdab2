package sqlite

import (
	"context"
	"database/sql"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Cancel records that someone wants the run to end.
func (s *Store) Cancel(ctx context.Context, id string, c run.Cancel) error {
	return s.explain("write", s.transact(ctx, func(tx *transaction) error {
		tx.about = []matter{ofLeaders}
		var ended bool
		if err := tx.row(`SELECT ended FROM runs WHERE id = ?`, id).Scan(&ended); ended || err != nil {
			return noRun(err)
		}
		_, err := tx.exec(`INSERT INTO cancels (run, cancel, taken) VALUES (?,?,0) ON CONFLICT DO NOTHING`, id, encode(c))
		return err
	}))
}

const (
	readSubmitted = `SELECT id FROM runs WHERE ended = 0 AND submitted > coalesce((SELECT submitted FROM runs WHERE id = ?), 0) ORDER BY submitted`
	readCancelled = `SELECT EXISTS (SELECT 1 FROM cancels WHERE taken < ?)`
)

// Requests waits until there is something that the leader has not taken up.
func (s *Store) Requests(ctx context.Context, e store.Epoch, after string) (store.Requests, error) {
	if s.readOnly {
		return store.Requests{}, s.explain("read", errReadOnly)
	}
	var asked store.Requests
	err := s.written.until(ctx, ofLeaders, func() (some bool, err error) {
		asked, err = s.asked(ctx, e, after)
		return len(asked.Submitted)+len(asked.Cancelled) > 0, err
	})
	if err != nil {
		return store.Requests{}, s.explain("read", err)
	}
	return asked, nil
}

// asked gives what there is now. Most of the time that is nothing, which is found out without writing.
func (s *Store) asked(ctx context.Context, e store.Epoch, after string) (store.Requests, error) {
	asked := store.Requests{Cancelled: map[string]run.Cancel{}}
	err := each(ctx, s.read, func(rows *sql.Rows) error {
		asked.Submitted = append(asked.Submitted, "")
		return rows.Scan(&asked.Submitted[len(asked.Submitted)-1])
	}, readSubmitted, after)
	if err != nil {
		return asked, err
	}
	var some bool
	err = s.read.QueryRowContext(ctx, readCancelled, e).Scan(&some)
	if err != nil || !some {
		return asked, err
	}
	// Taken up is what was committed as that: from here on it is given, even if the context has ended since.
	err = s.transact(ctx, func(tx *transaction) error {
		if err := leads(tx, e); err != nil {
			return err
		}
		return each(within, tx, func(rows *sql.Rows) error {
			var id string
			var c run.Cancel
			if err := rows.Scan(&id, into(&c)); err != nil {
				return err
			}
			asked.Cancelled[id] = c
			return nil
		}, `UPDATE cancels SET taken = ?1 WHERE taken < ?1 RETURNING run, cancel`, e)
	})
	return asked, err
}
