package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Runs lists runs, the newest first.
func (s *Store) Runs(ctx context.Context, q store.Query) ([]store.Record, error) {
	where, args := []string{"1=1"}, []any{}
	if q.Pipeline != "" {
		where, args = append(where, "pipeline = ?"), append(args, q.Pipeline)
	}
	if q.Before != "" {
		where, args = append(where, "id < ?"), append(args, q.Before)
	}
	if len(q.Status) > 0 {
		where = append(where, "status IN (?"+strings.Repeat(",?", len(q.Status)-1)+")")
		for _, status := range q.Status {
			args = append(args, string(status))
		}
	}
	most := q.Most
	if most <= 0 {
		most = 50
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+record+` FROM runs WHERE `+strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?`, append(args, most)...)
	if err != nil {
		return nil, s.explain("read", err)
	}
	details, err := scanRuns(rows)
	all := make([]store.Record, len(details))
	for i := range details {
		all[i] = details[i].Record
	}
	return all, s.explain("read", err)
}

// Run gives a run by its id, or by a beginning of it.
func (s *Store) Run(ctx context.Context, id string) (*store.Detail, error) {
	id = strings.ToUpper(id)
	rows, err := s.read.QueryContext(ctx, `SELECT `+record+` FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT 20`, id, id+"\x7f")
	if err != nil {
		return nil, s.explain("read", err)
	}
	found, err := scanRuns(rows)
	switch {
	case err != nil:
		return nil, s.explain("read", err)
	case len(found) == 0 || id == "":
		return nil, store.ErrNoRun
	case len(found) > 1 && found[0].ID != id:
		e := &store.AmbiguousError{}
		for _, d := range found {
			e.IDs = append(e.IDs, d.ID)
		}
		return nil, e
	}
	return &found[0], s.explain("read", s.fill(ctx, &found[0]))
}

// Origins gives those of the plan, and then those of the cluster.
func (s *Store) Origins(ctx context.Context, ref run.Ref) ([]placement.Origin, error) {
	var planned, cluster []byte
	err := s.read.QueryRowContext(ctx, `SELECT s.origins, a.cluster FROM steps s LEFT JOIN attempts a ON a.run = s.run AND a.step = s.id AND a.number = ?
		WHERE s.run = ? AND s.id = ?`, ref.Attempt, ref.Run, ref.Step).Scan(&planned, &cluster)
	if err != nil {
		return nil, s.explain("read", noRun(err))
	}
	var all, more []placement.Origin
	if err := json.Unmarshal(planned, &all); err != nil {
		return nil, err
	}
	if cluster != nil {
		if err := json.Unmarshal(cluster, &more); err != nil {
			return nil, err
		}
	}
	return slices.Concat(all, more), nil
}

// Events gives the run's event log after a number.
func (s *Store) Events(ctx context.Context, id string, after int64, most int) ([]store.Event, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT number, entry FROM events WHERE run = ? AND number > ? ORDER BY number LIMIT ?`, id, after, most)
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	var all []store.Event
	for rows.Next() {
		var e store.Event
		var data []byte
		if err := rows.Scan(&e.Number, &data); err != nil {
			return nil, s.explain("read", err)
		}
		if err := json.Unmarshal(data, &e.Entry); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, s.explain("read", rows.Err())
}

// Wait waits until the run's event log has something after a number.
func (s *Store) Wait(ctx context.Context, id string, after int64) error {
	return s.until(ctx, func() (bool, error) {
		var last int64
		err := s.read.QueryRowContext(ctx, `SELECT events FROM runs WHERE id = ?`, id).Scan(&last)
		return last > after, s.explain("read", noRun(err))
	})
}

// Requests waits until there is something that the leader has not taken up.
func (s *Store) Requests(ctx context.Context, e store.Epoch, after string) (store.Requests, error) {
	asked := store.Requests{Cancelled: map[string]run.Cancel{}}
	err := s.until(ctx, func() (bool, error) {
		if err := s.submitted(ctx, after, &asked); err != nil {
			return false, s.explain("read", err)
		}
		if err := s.cancelled(ctx, e, &asked); err != nil {
			return false, s.explain("read", err)
		}
		return len(asked.Submitted)+len(asked.Cancelled) > 0, nil
	})
	return asked, err
}

func (s *Store) submitted(ctx context.Context, after string, asked *store.Requests) error {
	rows, err := s.read.QueryContext(ctx, `SELECT id FROM runs WHERE id > ? ORDER BY id`, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		asked.Submitted = append(asked.Submitted, id)
	}
	return rows.Err()
}

// cancelled takes the cancellations that this epoch has not seen. Most of the time there are none, which is
// found out without writing.
func (s *Store) cancelled(ctx context.Context, e store.Epoch, asked *store.Requests) error {
	var any bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM cancels WHERE taken < ?)`, e).Scan(&any); err != nil || !any {
		return err
	}
	rows, err := s.write.QueryContext(ctx, `UPDATE cancels SET taken = ?1 WHERE taken < ?1 RETURNING run, cancel`, e)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var data []byte
		var c run.Cancel
		if err := rows.Scan(&id, &data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		asked.Cancelled[id] = c
	}
	return errors.Join(rows.Err(), ctx.Err())
}

var _ store.Store = (*Store)(nil)
