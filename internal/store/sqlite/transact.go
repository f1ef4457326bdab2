package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// transaction is one that writes. A statement that was prepared is compiled once for the store's life.
type transaction struct {
	*sql.Tx
	about    []matter // what it writes; those who wait for that are told
	prepared map[string]*sql.Stmt
	own      map[string]*sql.Stmt // of those, the ones that are in use here
}

// within is the context of statements: a transaction is not given up halfway, and to look out for that costs a
// goroutine for each of them.
var within = context.Background()

// transact makes one transaction of what do does, and tells those who wait that something was written. For
// another process that writes it waits as long as the busy timeout, which is how conflicts are retried: a
// transaction has the lock from its beginning, so that none is found out later.
func (s *Store) transact(ctx context.Context, do func(*transaction) error) error {
	if s.readOnly {
		return errReadOnly
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	t := &transaction{Tx: tx, prepared: s.prepared, own: map[string]*sql.Stmt{}}
	if err := do(t); err != nil {
		if undone := tx.Rollback(); errors.Is(undone, sql.ErrTxDone) { // because the context has ended
			return errors.Join(ctx.Err(), err)
		}
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.written.tell(t.about...)
	return nil
}

// prepare compiles the statements of which a transaction has many.
func (s *Store) prepare(ctx context.Context) error {
	for _, query := range often {
		st, err := s.write.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		s.prepared[query] = st
	}
	return nil
}

func (tx *transaction) statement(query string) *sql.Stmt {
	st := tx.own[query]
	if st == nil {
		if p := tx.prepared[query]; p != nil {
			st = tx.StmtContext(within, p)
			tx.own[query] = st
		}
	}
	return st
}

// exec gives how many rows were written.
func (tx *transaction) exec(query string, args ...any) (int64, error) {
	var done sql.Result
	var err error
	if st := tx.statement(query); st != nil {
		done, err = st.ExecContext(within, args...)
	} else {
		done, err = tx.ExecContext(within, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (tx *transaction) row(query string, args ...any) *sql.Row {
	if st := tx.statement(query); st != nil {
		return st.QueryRowContext(within, args...)
	}
	return tx.QueryRowContext(within, query, args...)
}
