-- How tasks stood before they were changed, for the feed. Appended by each change of a task that is there; creations
-- write nothing here.

-- seq: of the version that brought the task to this state; ended_at: when the next one came. kind: 1 the whole state,
-- 2 what leads back to it from the state after it, 3 purged. way: of those of kind 2 since the last whole one, this one
-- included, in bytes. attributes: store/v1/rows.proto.
CREATE TABLE task_history (
    history_id INTEGER PRIMARY KEY,
    task_id    INTEGER NOT NULL REFERENCES tasks,
    seq        INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    kind       INTEGER NOT NULL CHECK (kind IN (1, 2, 3)),
    way        INTEGER NOT NULL,
    attributes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX task_history_by_task ON task_history (task_id, seq);

-- From this seq on it is known how each task stood: not before this schema, and not before what was forgotten.
ALTER TABLE accounts ADD COLUMN history_from INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET history_from = last_seq WHERE mode = 1;
