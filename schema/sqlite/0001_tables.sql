-- All tables. Instants are Unix milliseconds; UUIDs and digests are raw bytes. IDs and times come from the server,
-- never from SQL functions. Messages in columns are those of callsign.rows.v1 (schema/proto).
--
-- Rows that every creation writes are appended to their B-trees, under growing IDs, for all accounts: SQLite writes
-- each page that a commit touches to the WAL, so a key in random order would cost one page per creation. Clients' keys,
-- numbers and places on a chain are in random order: they have indexes that are written in bulk (last section).

-- No CHECK calls a function: an INSERT of several rows would copy each page before changing it, in case one row fails
-- alone. Readers of a row check sizes.

-- ---- the store ----

-- Identity of this store. A backup that replaces it gets a new one.
CREATE TABLE instance (
    instance_id INTEGER PRIMARY KEY CHECK (instance_id = 1),
    uuid        BLOB NOT NULL
) STRICT;
INSERT INTO instance (instance_id, uuid) VALUES (1, randomblob(16));

-- One row, updated by every transaction that changes it.
CREATE TABLE totals (
    totals_id       INTEGER PRIMARY KEY CHECK (totals_id = 1),
    -- Slots by state.
    pending         INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    in_flight       INTEGER NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    committed       INTEGER NOT NULL DEFAULT 0 CHECK (committed >= 0),
    failed          INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
    accounts        INTEGER NOT NULL DEFAULT 0 CHECK (accounts >= 0),
    tasks           INTEGER NOT NULL DEFAULT 0 CHECK (tasks >= 0),
    -- Tasks with a number that are not closed.
    open_tasks      INTEGER NOT NULL DEFAULT 0 CHECK (open_tasks >= 0),
    held_series     INTEGER NOT NULL DEFAULT 0 CHECK (held_series >= 0),
    -- The latest instant of any row. Later rows are not stamped with an earlier one.
    last_moment     INTEGER NOT NULL DEFAULT 0,
    -- The last ID assigned in each table. IDs are never reused, even after the row with the highest one is removed.
    last_account    INTEGER NOT NULL DEFAULT 0,
    last_token      INTEGER NOT NULL DEFAULT 0,
    last_action     INTEGER NOT NULL DEFAULT 0,
    last_series     INTEGER NOT NULL DEFAULT 0,
    last_counter    INTEGER NOT NULL DEFAULT 0,
    last_slot       INTEGER NOT NULL DEFAULT 0,
    last_task       INTEGER NOT NULL DEFAULT 0,
    last_history    INTEGER NOT NULL DEFAULT 0,
    last_version    INTEGER NOT NULL DEFAULT 0,
    last_fork       INTEGER NOT NULL DEFAULT 0,
    last_device     INTEGER NOT NULL DEFAULT 0,
    last_sealed     INTEGER NOT NULL DEFAULT 0,
    last_effect     INTEGER NOT NULL DEFAULT 0,
    last_webhook    INTEGER NOT NULL DEFAULT 0,
    last_delivery   INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO totals (totals_id) VALUES (1);

-- Row up to which each index that is written in bulk is complete.
CREATE TABLE index_progress (
    index_progress_id INTEGER PRIMARY KEY CHECK (index_progress_id = 1),
    pending_through   INTEGER NOT NULL DEFAULT 0 CHECK (pending_through >= 0),
    numbers_through   INTEGER NOT NULL DEFAULT 0 CHECK (numbers_through >= 0),
    places_through    INTEGER NOT NULL DEFAULT 0 CHECK (places_through >= 0)
) STRICT;
INSERT INTO index_progress (index_progress_id) VALUES (1);

-- ---- accounts ----

CREATE TABLE accounts (
    account_id    INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    created_at    INTEGER NOT NULL,
    -- 1 managed: its chain is in versions; 2 opaque: in sealed_versions.
    mode          INTEGER NOT NULL CHECK (mode IN (1, 2)),
    -- 1 active; 2 disabled: no access; 3 deleted: no access, can be restored until the grace period ends; 4 its rows
    -- are being removed, and its name is free.
    state         INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    deleted_at    INTEGER,
    -- 1: a remote account, described in remotes.
    elsewhere     INTEGER NOT NULL CHECK (elsewhere IN (0, 1)),
    -- The head of its chain.
    last_seq      INTEGER NOT NULL CHECK (last_seq >= 0),
    last_version  BLOB NOT NULL,
    -- Versions up to this one were sealed before the account became managed: tasks created and removed by then have no
    -- row.
    sealed_seq    INTEGER NOT NULL CHECK (sealed_seq >= 0),
    -- Task history is known from this seq on.
    history_from  INTEGER NOT NULL,
    -- Size of its versions, its snapshot, its requests and its slots that expire; accounts.stored_bytes_max limits it.
    stored_bytes  INTEGER NOT NULL CHECK (stored_bytes >= 0),
    -- Number and size of all its fork versions so far, removed ones included.
    fork_versions INTEGER NOT NULL CHECK (fork_versions >= 0),
    fork_bytes    INTEGER NOT NULL CHECK (fork_bytes >= 0)
) STRICT;
CREATE INDEX accounts_deleted ON accounts (deleted_at) WHERE deleted_at IS NOT NULL;

-- account_id NULL: an operator token. expires_at NULL: valid until revoked.
CREATE TABLE tokens (
    token_id   INTEGER PRIMARY KEY,
    account_id INTEGER REFERENCES accounts,
    name       TEXT NOT NULL,
    scope      INTEGER NOT NULL CHECK (scope IN (1, 2, 3)),
    hash       BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_by_account ON tokens (account_id);

-- The audit log: changes of accounts and of the server. A row is appended by the transaction that makes the change; the
-- oldest rows are removed. token_id: of the request; NULL: the server itself. actor_account_id: the token's account;
-- NULL: an operator's. actor_place: 1, 2, 3 ... among the actions of that account's tokens, of which the latest are
-- retained; 0 for others. account_id: the account changed; NULL: the server. Names are those of that time; accounts and
-- tokens may no longer exist.
CREATE TABLE admin_actions (
    action_id        INTEGER PRIMARY KEY,
    done_at          INTEGER NOT NULL,
    token_id         INTEGER,
    token_name       TEXT NOT NULL,
    actor_account_id INTEGER,
    actor_place      INTEGER NOT NULL,
    address          TEXT NOT NULL,
    action           TEXT NOT NULL,
    account_id       INTEGER,
    account_name     TEXT NOT NULL,
    subject          TEXT NOT NULL
) STRICT;
CREATE INDEX admin_actions_by_account ON admin_actions (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX admin_actions_by_actor ON admin_actions (actor_account_id) WHERE actor_account_id IS NOT NULL;

-- ---- series and numbers ----

CREATE TABLE series (
    series_id   INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    prefix      TEXT NOT NULL CHECK (prefix <> ''),
    project     TEXT NOT NULL,
    is_default  INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at  INTEGER NOT NULL,
    -- The last period, in their order, that has a counter.
    last_period TEXT NOT NULL,
    -- 1 never, 2 daily, 3 monthly, 4 yearly, in the time zone.
    reset       INTEGER NOT NULL CHECK (reset BETWEEN 1 AND 4),
    time_zone   TEXT NOT NULL,
    archived    INTEGER NOT NULL CHECK (archived IN (0, 1)),
    -- 1: its next number may be raised.
    allows_gaps INTEGER NOT NULL CHECK (allows_gaps IN (0, 1)),
    -- 1: held after a restore, until it is resumed at a number: users may know numbers that were assigned after the
    -- backup.
    held        INTEGER NOT NULL CHECK (held IN (0, 1)),
    -- 1: resumed, and tasks that came while it was held have no number yet.
    numbering   INTEGER NOT NULL CHECK (numbering IN (0, 1)),
    -- Not null: renamed, and tasks last changed up to this seq may have the former key as an attribute, except for those
    -- up to this number of this period.
    renamed_seq    INTEGER,
    renamed_period TEXT NOT NULL,
    renamed_number INTEGER NOT NULL
) STRICT;
CREATE INDEX series_by_account ON series (account_id);
CREATE UNIQUE INDEX series_by_project ON series (account_id, project) WHERE project <> '';
CREATE UNIQUE INDEX series_default ON series (account_id) WHERE is_default;
CREATE INDEX series_numbering ON series (series_id) WHERE numbering = 1;
CREATE INDEX series_renamed ON series (series_id) WHERE renamed_seq IS NOT NULL;

-- All prefixes that a series has or had.
CREATE TABLE prefixes (
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL,
    series_id  INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (account_id, prefix)
) STRICT, WITHOUT ROWID;

-- The last number assigned, by series and period.
CREATE TABLE counters (
    counter_id  INTEGER PRIMARY KEY,
    series_id   INTEGER NOT NULL REFERENCES series,
    period      TEXT NOT NULL,
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    UNIQUE (series_id, period)
) STRICT;

-- Skipped numbers of a counter: no task has them.
CREATE TABLE skipped_numbers (
    counter_id   INTEGER NOT NULL REFERENCES counters,
    first_number INTEGER NOT NULL CHECK (first_number >= 1),
    last_number  INTEGER NOT NULL CHECK (last_number >= first_number),
    PRIMARY KEY (counter_id, first_number)
) STRICT, WITHOUT ROWID;

-- ---- slots ----

-- state: 1 pending, 2 committed, 3 failed, 4 in flight (its creation is in the outbox). created: 0 if the task existed
-- already. (A CHECK of three values in a list makes a temporary table for each row: a sixth of the writer's time.)
CREATE TABLE slots (
    slot_id     INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    uuid        BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    created     INTEGER NOT NULL CHECK (created IN (0, 1)),
    reason      INTEGER NOT NULL,
    state       INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    task_id     INTEGER,
    settled_at  INTEGER,
    expires     INTEGER NOT NULL CHECK (expires IN (0, 1)),
    CHECK ((state = 2) = (task_id IS NOT NULL)),
    CHECK ((state IN (1, 4)) = (settled_at IS NULL)),
    CHECK ((state = 3) = (reason <> 0))
) STRICT;
-- Slots that expire: all but those that created a task, which are kept as long as the task.
CREATE INDEX slots_expiring ON slots (expires) WHERE expires = 1;

-- Clients' retry times, for the reaper's window: one row per class of accounts (1 local, 2 remote). times: RetryTimes.
CREATE TABLE retry_times (
    accounts INTEGER PRIMARY KEY CHECK (accounts IN (1, 2)),
    times    BLOB NOT NULL
) STRICT;

-- ---- tasks ----

-- Once assigned, prefix, number, seq and created_at are the receipt and never change. author: a token's ID, or the
-- negative of a device's; NULL: the server, or unknown. over: 1 if closed (completed, deleted or purged); most tasks of
-- an account are, while most lists are of open ones. slot_id: of the request that created the task; NULL: a device or an
-- import. way_back: bytes of its rows of kind 2 in task_history since the
-- last whole state.
CREATE TABLE tasks (
    task_id    INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    uuid       BLOB NOT NULL,
    series_id  INTEGER NOT NULL REFERENCES series,
    counter_id INTEGER REFERENCES counters,
    number     INTEGER CHECK (number >= 1),
    prefix     TEXT,
    seq        INTEGER,
    last_seq   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    purged     INTEGER NOT NULL CHECK (purged IN (0, 1)),
    over       INTEGER NOT NULL CHECK (over IN (0, 1)),
    author     INTEGER,
    slot_id    INTEGER,
    bytes      INTEGER NOT NULL CHECK (bytes >= 0),
    way_back   INTEGER NOT NULL CHECK (way_back >= 0),
    attributes BLOB NOT NULL,
    CHECK ((number IS NULL) = (counter_id IS NULL) AND (number IS NULL) = (prefix IS NULL)),
    CHECK ((number IS NULL) = (seq IS NULL))
) STRICT;
-- The server's UUIDs are UUIDv7 and are appended; a client's own may be anywhere.
CREATE UNIQUE INDEX tasks_by_uuid ON tasks (uuid, account_id);
-- Tasks that came while their series was held.
CREATE INDEX tasks_unnumbered ON tasks (series_id) WHERE number IS NULL;

-- Former states of tasks, for the feed. Each change of an existing task appends one; creations append none. seq: of the
-- version that led to this state; ended_at: when the next state began. kind: 1 the whole state, 2 the difference from
-- the next state back to this one, 3 purged.
CREATE TABLE task_history (
    history_id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_id    INTEGER NOT NULL REFERENCES tasks,
    seq        INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    kind       INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 3),
    bytes      INTEGER NOT NULL CHECK (bytes >= 0),
    attributes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX task_history_by_task ON task_history (task_id, seq);

-- Purged tasks whose text is still on the chain and in history. A sweep of the reaper removes the text
-- (src/rules/scrub.cpp), then the row. through: seq of the version with the task's last Delete.
CREATE TABLE purges (
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_uuid  BLOB NOT NULL,
    through    INTEGER NOT NULL CHECK (through >= 1),
    PRIMARY KEY (account_id, task_uuid)
) STRICT, WITHOUT ROWID;

-- Outcomes of requests with an idempotency key, other than creations of tasks, until they are as old as the retention.
-- account_id: 0 for requests of operators. seq: of the task's state in the response. sealed: a secret in the response,
-- encrypted with the token of the request.
CREATE TABLE requests (
    account_id  INTEGER NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    at          INTEGER NOT NULL,
    subject     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    sealed      BLOB NOT NULL,
    PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (at, account_id, key);

-- ---- chains of managed accounts ----

-- Version n of an account has seq n. author: as in tasks. bytes: approximate size of its operations (size_of).
CREATE TABLE versions (
    version_row INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    seq         INTEGER NOT NULL CHECK (seq >= 1),
    version_id  BLOB NOT NULL,
    parent_id   BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    author      INTEGER,
    bytes       INTEGER NOT NULL CHECK (bytes >= 0),
    operations  BLOB NOT NULL
) STRICT;
-- Finds a version that a device names as its last. The server's version IDs are UUIDv7 and are appended.
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);

-- What a device has that received such a version ID: the chain up to left_at, and its own operations. Needed until its
-- sync has ended. seq: of the device's last own version. place: 1, 2, 3 ... within the account; bytes_before: size of
-- all the account's earlier ones.
CREATE TABLE fork_versions (
    fork_row     INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts,
    place        INTEGER NOT NULL CHECK (place >= 1),
    version_id   BLOB NOT NULL,
    left_at      INTEGER NOT NULL CHECK (left_at >= 0),
    seq          INTEGER NOT NULL CHECK (seq > left_at),
    created_at   INTEGER NOT NULL,
    way          BLOB NOT NULL,
    bytes_before INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX fork_versions_by_place ON fork_versions (account_id, place);
CREATE UNIQUE INDEX fork_versions_by_id ON fork_versions (version_id, account_id);

-- ---- devices, and chains of opaque accounts ----

-- name: '' for the client of an opaque account. key: the key of its bodies, encrypted with the master key; NULL while
-- the account is opaque. resync_from: for a device that existed when a backup was restored, the seq of the account's
-- head in the backup. resync_state: 1 it has not synced since; 2 it had nothing newer than the backup; 3 it had, and
-- the server has it now.
CREATE TABLE devices (
    device_id    INTEGER PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES accounts,
    client_id    BLOB NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    key          BLOB,
    created_at   INTEGER NOT NULL,
    revoked_at   INTEGER,
    resync_from  INTEGER CHECK (resync_from >= 0),
    resync_state INTEGER CHECK (resync_state BETWEEN 1 AND 3)
) STRICT;
CREATE INDEX devices_by_account ON devices (account_id);
CREATE UNIQUE INDEX devices_by_name ON devices (account_id, name) WHERE name <> '' AND revoked_at IS NULL;

-- The index finds the child of a version, the only query of clients, and allows one child per parent. Parents are the
-- server's UUIDv7, except the first of a chain, so entries are appended.
CREATE TABLE sealed_versions (
    sealed_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    version_id BLOB NOT NULL,
    parent_id  BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    bytes      INTEGER NOT NULL CHECK (bytes >= 0),
    segment    BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX sealed_versions_by_parent ON sealed_versions (parent_id, account_id);

-- The newest snapshot of each account. seq: of its version; taken_seq: of the head when it arrived.
CREATE TABLE sealed_snapshots (
    account_id INTEGER PRIMARY KEY REFERENCES accounts,
    version_id BLOB NOT NULL,
    seq        INTEGER NOT NULL CHECK (seq >= 0),
    taken_seq  INTEGER NOT NULL,
    taken_at   INTEGER NOT NULL,
    size       INTEGER NOT NULL CHECK (size >= 0),
    bytes      BLOB NOT NULL
) STRICT;

-- ---- remote accounts: their tasks are on another TaskChampion server ----

-- cursor: the remote version that the mirror has reached; before: its parent; partial: its child, of which the mirror
-- has partial_operations operations. Nil: none. key: decrypts its bodies; encrypted with the master key. moved_tasks:
-- not NULL while the tasks are being moved there, in the order of keys: how many were; other moved_*: the last of them,
-- NULL: none.
CREATE TABLE remotes (
    account_id         INTEGER PRIMARY KEY REFERENCES accounts,
    url                TEXT NOT NULL,
    client_id          BLOB NOT NULL,
    key                BLOB NOT NULL,
    cursor             BLOB NOT NULL,
    before             BLOB NOT NULL,
    partial            BLOB NOT NULL,
    partial_operations INTEGER NOT NULL CHECK (partial_operations >= 0),
    halted             INTEGER NOT NULL CHECK (halted BETWEEN 0 AND 2),
    moved_tasks        INTEGER CHECK (moved_tasks >= 0),
    moved_series       INTEGER,
    moved_period       TEXT,
    moved_number       INTEGER
) STRICT;

-- Changes to be sent to the remote server. kind: 1 the creation of a task, for a slot; 2 a task's key attribute.
CREATE TABLE outbox (
    effect_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES remotes,
    kind       INTEGER NOT NULL CHECK (kind IN (1, 2)),
    slot_id    INTEGER,
    task_uuid  BLOB NOT NULL,
    prefix     TEXT NOT NULL,
    operations BLOB NOT NULL,
    author     INTEGER,
    attempts   INTEGER NOT NULL CHECK (attempts >= 0),
    parent     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    CHECK ((kind = 1) = (slot_id IS NOT NULL))
) STRICT;
CREATE INDEX outbox_by_account ON outbox (account_id, effect_id);
CREATE UNIQUE INDEX outbox_by_task ON outbox (task_uuid, account_id, kind);

-- How often another client has overwritten a task's key attribute.
CREATE TABLE key_contests (
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_uuid  BLOB NOT NULL,
    times      INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, task_uuid)
) STRICT, WITHOUT ROWID;

-- ---- webhooks ----

-- URLs that an account's changes are posted to. after_seq, after_tasks, mark: everything up to there was delivered.
-- disabled: the reason (domain/webhook.hpp); NULL: enabled. secret: after a rotation also the former one, which signs
-- until former_until.
CREATE TABLE webhooks (
    webhook_id  INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    uuid        BLOB NOT NULL UNIQUE,
    url         TEXT NOT NULL,
    filter      TEXT NOT NULL,
    secret      BLOB NOT NULL,
    former_until INTEGER,
    after_seq   INTEGER NOT NULL,
    after_tasks INTEGER NOT NULL,
    mark        TEXT NOT NULL,
    disabled    INTEGER CHECK (disabled BETWEEN 1 AND 6),
    failures    INTEGER NOT NULL,
    edits       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_account ON webhooks (account_id);

-- The latest deliveries of each webhook. place: 1, 2, 3 ... within the webhook; the latest are retained.
CREATE TABLE webhook_deliveries (
    delivery_id INTEGER PRIMARY KEY,
    webhook_id  INTEGER NOT NULL REFERENCES webhooks,
    place       INTEGER NOT NULL CHECK (place >= 1),
    sent_as     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    changes     INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    error       TEXT NOT NULL,
    delivered   INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, delivery_id);

-- ---- indexes that are written in bulk ----

-- Slots by their clients' keys: sorted runs of (hash of account and key, slot ID)
-- (src/store/sqlite/index/key_index.hpp). state: 1 being written, 2 in use, 3 to be deleted. through: every slot up to
-- this one is in a run.
CREATE TABLE key_runs (
    run_id  INTEGER PRIMARY KEY,
    level   INTEGER NOT NULL,
    state   INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    entries INTEGER NOT NULL,
    through INTEGER NOT NULL
) STRICT;

-- page_id = run_id * 2^32 + number of the page in the run; 16 bytes per entry.
CREATE TABLE key_pages (
    page_id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
) STRICT;

-- Open slots (state 1 or 4) up to index_progress.pending_through. Most slots are pending only for a moment: the writer
-- remembers which of the newest are (src/store/sqlite/index/pending_slots.hpp), and lists here those that stay so.
CREATE TABLE pending_slots (
    slot_id    INTEGER PRIMARY KEY REFERENCES slots,
    account_id INTEGER NOT NULL,
    task_uuid  BLOB NOT NULL
) STRICT;
-- Finds the slots that wait for a task which a sync brings.
CREATE INDEX pending_slots_by_task ON pending_slots (task_uuid, account_id);

-- Tasks with a number up to index_progress.numbers_through, and later ones already merged
-- (src/store/sqlite/index/bulk_index.hpp). Open and closed tasks are each in order: a second index, of open tasks,
-- would cost a creation one more page for each series of a commit. The key prevents two open, or two closed, tasks with
-- one number; for both kinds, a counter is verified against its highest number when the writer first reads it.
CREATE TABLE task_numbers (
    counter_id INTEGER NOT NULL,
    over       INTEGER NOT NULL CHECK (over IN (0, 1)),
    number     INTEGER NOT NULL,
    task_id    INTEGER NOT NULL,
    PRIMARY KEY (counter_id, over, number)
) STRICT, WITHOUT ROWID;

-- Versions up to index_progress.places_through, and later ones already merged.
CREATE TABLE version_places (
    account_id  INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    version_row INTEGER NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
