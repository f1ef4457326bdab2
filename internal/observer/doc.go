// Package observer is the life of berth-observer: it watches a cluster and says what it saw, in payloads and
// metrics.
//
//	collect ──facts──> reduce.Look ──View──┬─> payloads ──> spool ──> push
//	                                       └─> metrics
//
// It promises:
//   - Coverage is written at every beat, whatever happens: its age says whether anybody is looking.
//   - The other payloads are written when they have changed, at most once a beat, and now and then if they have
//     not. What is written is true of one moment.
//   - Nothing is said before it is known: the first payloads wait until every source was seen as a whole, or
//     is forbidden or refused, which coverage says.
//   - What fails is counted in coverage and stops nothing.
package observer
