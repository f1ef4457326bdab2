-- What changes with every transition is kept apart from what a submission says once: SQLite writes whole rows.

-- +goose Up
CREATE TABLE submissions (
  run      TEXT PRIMARY KEY,
  setup    BLOB NOT NULL,
  plan     BLOB, -- without steps
  findings BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO submissions SELECT id, setup, plan, findings FROM runs;

CREATE TABLE specs (
  run     TEXT NOT NULL,
  id      TEXT NOT NULL,
  slim    BLOB NOT NULL, -- of the plan: what the graph needs
  spec    BLOB NOT NULL, -- of the plan: all but origins
  origins BLOB NOT NULL, -- of the plan; compressed (zlib), but for those of version 1
  PRIMARY KEY (run, id)
) WITHOUT ROWID;
INSERT INTO specs SELECT run, id, slim, spec, origins FROM steps;

CREATE TABLE steps_2 (
  run     TEXT NOT NULL,
  id      TEXT NOT NULL,
  ordinal INTEGER NOT NULL, -- in the plan
  ended   INTEGER NOT NULL, -- 1: never changes again
  state   BLOB NOT NULL,
  PRIMARY KEY (run, id)
) WITHOUT ROWID;
INSERT INTO steps_2 SELECT run, id, ordinal, ended, state FROM steps;

CREATE TABLE runs_2 (
  id          TEXT PRIMARY KEY,
  submitted   INTEGER NOT NULL, -- grows with each submission, as ids of several processes need not
  pipeline    TEXT NOT NULL,
  environment TEXT NOT NULL,
  target      TEXT NOT NULL,
  source      TEXT NOT NULL,
  status      TEXT NOT NULL,
  ended       INTEGER NOT NULL, -- 1: never changes again
  events      INTEGER NOT NULL, -- number of the last one
  steps       INTEGER NOT NULL, -- how many
  steps_ended INTEGER NOT NULL, -- how many of them have ended
  state       BLOB NOT NULL     -- without steps
) WITHOUT ROWID;
INSERT INTO runs_2 SELECT id, row_number() OVER (ORDER BY id), pipeline, environment, target, source, status, ended, events,
  (SELECT count(*) FROM steps WHERE run = runs.id), (SELECT count(*) FROM steps WHERE run = runs.id AND steps.ended = 1), state FROM runs;
INSERT INTO meta SELECT 'submitted', count(*) FROM runs;

DROP TABLE steps;
DROP TABLE runs;
ALTER TABLE steps_2 RENAME TO steps;
ALTER TABLE runs_2 RENAME TO runs;
CREATE INDEX runs_to_do ON runs (target, id) WHERE ended = 0;
CREATE INDEX runs_to_take_up ON runs (submitted) WHERE ended = 0;
CREATE INDEX runs_of_pipeline ON runs (pipeline, id);
CREATE INDEX runs_of_status ON runs (status, id);
CREATE INDEX runs_of_pipeline_and_status ON runs (pipeline, status, id);
