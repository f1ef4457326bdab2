-- +goose Up
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  id          TEXT PRIMARY KEY,
  pipeline    TEXT NOT NULL,
  environment TEXT NOT NULL,
  target      TEXT NOT NULL,
  source      TEXT NOT NULL,
  setup       BLOB NOT NULL,
  status      TEXT NOT NULL,
  ended       INTEGER NOT NULL, -- 1: never changes again
  open        INTEGER NOT NULL, -- commands that are not done
  events      INTEGER NOT NULL, -- number of the last one
  plan        BLOB,             -- without steps
  state       BLOB NOT NULL,    -- without steps
  findings    BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_to_do ON runs (target, id) WHERE ended = 0 OR open > 0;

CREATE TABLE steps (
  run     TEXT NOT NULL REFERENCES runs (id),
  ordinal INTEGER NOT NULL,
  id      TEXT NOT NULL,
  ended   INTEGER NOT NULL,
  state   BLOB NOT NULL,
  slim    BLOB NOT NULL, -- of the plan: what the graph needs
  spec    BLOB NOT NULL, -- of the plan: all but origins
  origins BLOB NOT NULL, -- of the plan
  PRIMARY KEY (run, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX steps_by_id ON steps (run, id);

-- Attempts that another one followed, and what clusters made of the pods of all.
CREATE TABLE attempts (
  run     TEXT NOT NULL,
  step    TEXT NOT NULL,
  number  INTEGER NOT NULL,
  state   BLOB,
  cluster BLOB,
  PRIMARY KEY (run, step, number)
) WITHOUT ROWID;

CREATE TABLE commands (
  run     TEXT NOT NULL,
  step    TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  command BLOB NOT NULL,
  PRIMARY KEY (run, step, attempt, kind)
) WITHOUT ROWID;

CREATE TABLE events (
  run    TEXT NOT NULL,
  number INTEGER NOT NULL,
  entry  BLOB NOT NULL,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;

CREATE TABLE cancels (
  run    TEXT PRIMARY KEY,
  cancel BLOB NOT NULL,
  taken  INTEGER NOT NULL -- epoch of the leader that has seen it
) WITHOUT ROWID;
