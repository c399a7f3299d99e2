-- Accounts whose tasks live on another TaskChampion server, and what is still to be sent there.

-- cursor: the remote's version that the mirror has come to; before: the one before it; partial: its child, of which
-- the mirror has so many operations. Nil: none. key: what opens its bodies, sealed under the master key.
CREATE TABLE remotes (
    account_id INTEGER PRIMARY KEY REFERENCES accounts,
    url        TEXT NOT NULL,
    client_id  BLOB NOT NULL CHECK (length(client_id) = 16),
    key        BLOB NOT NULL,
    cursor     BLOB NOT NULL CHECK (length(cursor) = 16),
    before     BLOB NOT NULL CHECK (length(before) = 16),
    partial    BLOB NOT NULL CHECK (length(partial) = 16),
    partial_operations INTEGER NOT NULL CHECK (partial_operations >= 0),
    halted     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- kind: 1 the creation of a task, for a slot; 2 a task's key attribute. No effect_id is given again. operations:
-- store/v1/rows.proto.
CREATE TABLE outbox (
    effect_id  INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES remotes,
    kind       INTEGER NOT NULL CHECK (kind IN (1, 2)),
    slot_id    INTEGER,
    task_uuid  BLOB NOT NULL CHECK (length(task_uuid) = 16),
    prefix     TEXT NOT NULL,
    operations BLOB NOT NULL,
    author     INTEGER,
    attempts   INTEGER NOT NULL CHECK (attempts >= 0),
    parent     BLOB NOT NULL CHECK (length(parent) = 16),
    created_at INTEGER NOT NULL,
    CHECK ((kind = 1) = (slot_id IS NOT NULL))
) STRICT;
CREATE INDEX outbox_by_account ON outbox (account_id, effect_id);
CREATE UNIQUE INDEX outbox_by_task ON outbox (task_uuid, account_id, kind);

-- How often another writer set a task's key attribute to something else.
CREATE TABLE key_contests (
    task_uuid  BLOB NOT NULL CHECK (length(task_uuid) = 16),
    account_id INTEGER NOT NULL REFERENCES accounts,
    times      INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (task_uuid, account_id)
) STRICT, WITHOUT ROWID;

-- A slot of state 1 is pending, or in flight: its creation is in the outbox.
ALTER TABLE slots ADD COLUMN in_flight INTEGER NOT NULL DEFAULT 0 CHECK (in_flight IN (0, 1));
ALTER TABLE totals ADD COLUMN in_flight INTEGER NOT NULL DEFAULT 0 CHECK (in_flight >= 0);
