// Package v1 is what berth-observer says: three kinds of JSON payload, the types that they are made from,
// and a JSON Schema for each.
//
// It promises:
//   - The bytes of a payload follow from its facts: records and map keys are sorted, what is absent has no
//     key, and the text is one line. The goldens pin them; a change of golden bytes is a change of the
//     protocol and raises Schema.
//   - A payload is a whole picture. A later one of its kind replaces it.
//   - What is absent is a default, unless the record's incomplete names it: then it was there, was past a
//     bound, and was left out whole.
//   - Facts only: no advice, no money. Facts of a container stand in the record; facts that belong to the
//     pod stand in its pod, since the record's key is a container's.
//   - The schemas say of every key what it means and what its absence means.
package v1
