package cluster

import (
	"context"
	"testing"
	"time"
)

// Eventually asks again and again until something holds. It is for what the API server promises only in
// the end, and tells nobody: that its authorizer knows of a binding, or admission of a quota.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx := Context(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never (%v)", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
