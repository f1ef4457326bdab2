package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// readers are the connections that read.
type readers struct {
	*sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt // of oftenRead, once they were needed
}

// oftenRead are the statements that are run again and again while steps run: they are compiled once.
var oftenRead = []string{readLast, readEvents, readSubmitted, readCancelled, readSpec}

// statement gives the compiled statement; nil if it is none of those that are kept, or can't be compiled, of
// which running it will tell.
func (r *readers) statement(ctx context.Context, query string) *sql.Stmt {
	if !slices.Contains(oftenRead, query) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.prepared[query] == nil {
		if st, err := r.PrepareContext(ctx, query); err == nil {
			r.prepared[query] = st
		}
	}
	return r.prepared[query]
}

func (r *readers) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if st := r.statement(ctx, query); st != nil {
		return st.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

func (r *readers) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if st := r.statement(ctx, query); st != nil {
		return st.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}
