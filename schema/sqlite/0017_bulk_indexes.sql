-- Indexes that are written in bulk (src/store/sqlite/bulk_index.hpp). Versions are appended now, whoever's they are.
-- Rows are moved from old_versions, and entries from tasks_by_number, in steps (src/store/sqlite/conversion.hpp) before
-- the next schema.

ALTER TABLE versions RENAME TO old_versions;
DROP INDEX versions_by_id;

-- Version n of an account has seq n. operations: store/v1/rows.proto. author: as of tasks.
CREATE TABLE versions (
    version_row INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    seq         INTEGER NOT NULL CHECK (seq >= 1),
    version_id  BLOB NOT NULL CHECK (length(version_id) = 16),
    parent_id   BLOB NOT NULL CHECK (length(parent_id) = 16),
    created_at  INTEGER NOT NULL,
    author      INTEGER,
    operations  BLOB NOT NULL
) STRICT;
-- Finds the place of a version that a device names as its last. Ours are UUIDv7s: they land at the end.
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);

-- Of a row up to totals.places_through, or one that is behind it and was merged since.
CREATE TABLE version_places (
    account_id  INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    version_row INTEGER NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;

-- Of a task with a number, up to totals.numbers_through, or behind it and merged since. Open tasks and those that are
-- over are each by themselves in order.
CREATE TABLE task_numbers (
    counter_id INTEGER NOT NULL,
    over       INTEGER NOT NULL CHECK (over IN (0, 1)),
    number     INTEGER NOT NULL,
    task_id    INTEGER NOT NULL,
    PRIMARY KEY (counter_id, over, number)
) STRICT, WITHOUT ROWID;

ALTER TABLE totals ADD COLUMN numbers_through INTEGER NOT NULL DEFAULT 0 CHECK (numbers_through >= 0);
ALTER TABLE totals ADD COLUMN places_through INTEGER NOT NULL DEFAULT 0 CHECK (places_through >= 0);
-- Tasks with a number that are not over.
ALTER TABLE totals ADD COLUMN open_tasks INTEGER NOT NULL DEFAULT 0 CHECK (open_tasks >= 0);
