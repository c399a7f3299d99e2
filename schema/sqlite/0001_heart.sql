-- Accounts, series, slots, tasks, the chain. Instants are Unix milliseconds, UUIDs and digests are raw bytes,
-- ids and times come from the server, never from SQL functions.
--
-- What is written on every creation is laid out so that it lands at the end of its B-tree: SQLite writes each
-- page a commit touches to the WAL, so a key in random order would cost a page a creation. Slots are appended
-- under an id that grows; the clients' random keys are found through key_runs and key_pages instead of
-- an index (src/store/sqlite/key_index.hpp).

CREATE TABLE accounts (
    account_id   INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL DEFAULT 0 CHECK (last_seq >= 0),
    last_version BLOB NOT NULL CHECK (length(last_version) = 16)
) STRICT;

CREATE TABLE series (
    series_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL CHECK (length(prefix) BETWEEN 1 AND 10),
    project    TEXT NOT NULL DEFAULT '',
    is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX series_by_account ON series (account_id);
CREATE UNIQUE INDEX series_by_project ON series (account_id, project) WHERE project <> '';
CREATE UNIQUE INDEX series_default ON series (account_id) WHERE is_default;

-- Every prefix a series has or had.
CREATE TABLE prefixes (
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL,
    series_id  INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (account_id, prefix)
) STRICT, WITHOUT ROWID;

-- One row for each (series, period): the last number taken.
CREATE TABLE counters (
    counter_id  INTEGER PRIMARY KEY,
    series_id   INTEGER NOT NULL REFERENCES series,
    period      TEXT NOT NULL DEFAULT '',
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    UNIQUE (series_id, period)
) STRICT;

-- account_id NULL: the operator's.
CREATE TABLE tokens (
    token_id   INTEGER PRIMARY KEY,
    account_id INTEGER REFERENCES accounts,
    name       TEXT NOT NULL,
    scope      INTEGER NOT NULL CHECK (scope IN (1, 2, 3)),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_account ON tokens (account_id);

-- state: 1 pending, 2 committed, 3 failed. created: 0 if the task was there already.
CREATE TABLE slots (
    slot_id     INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    key         TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    uuid        BLOB NOT NULL CHECK (length(uuid) = 16),
    created_at  INTEGER NOT NULL,
    attempts    INTEGER NOT NULL DEFAULT 1,
    created     INTEGER NOT NULL DEFAULT 1 CHECK (created IN (0, 1)),
    reason      INTEGER NOT NULL DEFAULT 0,
    state       INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    task_id     INTEGER,
    settled_at  INTEGER,
    CHECK ((state = 2) = (task_id IS NOT NULL)),
    CHECK ((state = 1) = (settled_at IS NULL)),
    CHECK ((state = 3) = (reason <> 0))
) STRICT;
CREATE INDEX slots_pending ON slots (state) WHERE state = 1;
CREATE INDEX slots_failed ON slots (state) WHERE state = 3;

-- One row, kept exact by every transaction: slots by state; the last slot id given (none up to it is given again,
-- even when its row is forgotten); the latest instant (none before it is stamped).
CREATE TABLE totals (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    pending     INTEGER NOT NULL CHECK (pending >= 0),
    committed   INTEGER NOT NULL CHECK (committed >= 0),
    failed      INTEGER NOT NULL CHECK (failed >= 0),
    last_slot   INTEGER NOT NULL,
    last_moment INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES (1, 0, 0, 0, 0, 0);

-- prefix, number, seq, created_at are the receipt and never change. attributes: store/v1/rows.proto.
CREATE TABLE tasks (
    task_id    INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    uuid       BLOB NOT NULL CHECK (length(uuid) = 16),
    series_id  INTEGER NOT NULL REFERENCES series,
    counter_id INTEGER REFERENCES counters,
    number     INTEGER CHECK (number >= 1),
    prefix     TEXT,
    seq        INTEGER,
    last_seq   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    purged     INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
    attributes BLOB NOT NULL,
    CHECK ((number IS NULL) = (counter_id IS NULL) AND (number IS NULL) = (seq IS NULL))
) STRICT;
-- A uuid of ours is a UUIDv7 and lands at the end; a client's own may land anywhere.
CREATE UNIQUE INDEX tasks_by_uuid ON tasks (uuid, account_id);
CREATE UNIQUE INDEX tasks_by_number ON tasks (counter_id, number) WHERE number IS NOT NULL;

-- Version n of an account has seq n. operations: store/v1/rows.proto.
CREATE TABLE versions (
    account_id INTEGER NOT NULL REFERENCES accounts,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    parent_id  BLOB NOT NULL CHECK (length(parent_id) = 16),
    created_at INTEGER NOT NULL,
    operations BLOB NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;

-- Sorted runs of (hash of account and key, slot id). state: 1 being written, 2 in use, 3 to be deleted.
CREATE TABLE key_runs (
    run_id  INTEGER PRIMARY KEY,
    level   INTEGER NOT NULL,
    state   INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    entries INTEGER NOT NULL,
    -- Every slot up to this one is in a run.
    through INTEGER NOT NULL
) STRICT;

-- page_id = run_id * 2^32 + number of the page in the run; 16 bytes an entry.
CREATE TABLE key_pages (
    page_id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
) STRICT;
