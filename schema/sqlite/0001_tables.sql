-- All tables, by what they are about. Instants are Unix milliseconds; UUIDs and digests are raw bytes; ids and times
-- come from the server, never from SQL functions. Messages in columns are of callsign.rows.v1 (schema/proto).
--
-- What every creation writes is laid out so that it lands at the end of its B-tree: SQLite writes each page that a
-- commit touches to the WAL, so a key in random order would cost a page a creation. Rows are therefore appended under
-- ids that grow, whoever's they are. Keys of clients, numbers and places on a chain are in random order: they have
-- indexes that are written in bulk (section "indexes").

-- No CHECK calls a function: an INSERT of several rows would copy each page before it is changed, in case that one row
-- alone fails. Sizes are checked by whoever reads a row.

-- ---- the store ----

-- Which store this is: another one from the moment that a backup of it takes its place.
CREATE TABLE instance (
    instance_id INTEGER PRIMARY KEY CHECK (instance_id = 1),
    uuid        BLOB NOT NULL
) STRICT;
INSERT INTO instance (instance_id, uuid) VALUES (1, randomblob(16));

-- One row, kept exact by every transaction.
CREATE TABLE totals (
    totals_id       INTEGER PRIMARY KEY CHECK (totals_id = 1),
    -- Slots by state.
    pending         INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    in_flight       INTEGER NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    committed       INTEGER NOT NULL DEFAULT 0 CHECK (committed >= 0),
    failed          INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
    accounts        INTEGER NOT NULL DEFAULT 0 CHECK (accounts >= 0),
    tasks           INTEGER NOT NULL DEFAULT 0 CHECK (tasks >= 0),
    -- Those with a number that are not over.
    open_tasks      INTEGER NOT NULL DEFAULT 0 CHECK (open_tasks >= 0),
    held_series     INTEGER NOT NULL DEFAULT 0 CHECK (held_series >= 0),
    -- The latest instant of any row: none before it is stamped.
    last_moment     INTEGER NOT NULL DEFAULT 0,
    -- Of each table the last id given. None is given again, also when the row with the highest is gone.
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

-- How far the indexes that are written in bulk have come.
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
    -- 1 managed, 2 opaque: its chain are versions, or sealed_versions.
    mode          INTEGER NOT NULL CHECK (mode IN (1, 2)),
    -- 1 active; 2 disabled: nobody gets in; 3 deleted: nor does anybody, and it can be had back for a while; 4 going:
    -- its rows are being removed, and it has no name of its own any more.
    state         INTEGER NOT NULL CHECK (state BETWEEN 1 AND 4),
    deleted_at    INTEGER,
    -- Its tasks live on another server: remotes says where.
    elsewhere     INTEGER NOT NULL CHECK (elsewhere IN (0, 1)),
    -- The head of its chain.
    last_seq      INTEGER NOT NULL CHECK (last_seq >= 0),
    last_version  BLOB NOT NULL,
    -- Versions up to this one were sealed once: tasks that came and went before it have no row.
    sealed_seq    INTEGER NOT NULL CHECK (sealed_seq >= 0),
    -- From this seq on it is known how each task stood.
    history_from  INTEGER NOT NULL,
    -- Of its versions and its snapshot: what accounts.stored_bytes_max is held against.
    stored_bytes  INTEGER NOT NULL CHECK (stored_bytes >= 0),
    -- All the fork versions there have been, and their bytes.
    fork_versions INTEGER NOT NULL CHECK (fork_versions >= 0),
    fork_bytes    INTEGER NOT NULL CHECK (fork_bytes >= 0)
) STRICT;
CREATE INDEX accounts_deleted ON accounts (deleted_at) WHERE deleted_at IS NOT NULL;

-- account_id NULL: the operator's. expires_at NULL: it holds until it is revoked.
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

-- The audit log: who changed what about accounts and the server. Appended with what it tells of; the oldest go.
-- token_id: whose request it was; NULL: the server's own. actor_account_id: whose token; NULL: an operator's.
-- actor_place: 1, 2, 3 ... of those that tokens of that account did, of which a number is kept; of others 0.
-- account_id: what it was about; NULL: the server. Names are as they were then, and accounts and tokens may be gone.
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
    -- The last, in their order, that it has a counter of.
    last_period TEXT NOT NULL,
    -- 1 never, 2 daily, 3 monthly, 4 yearly, in the time zone.
    reset       INTEGER NOT NULL CHECK (reset BETWEEN 1 AND 4),
    time_zone   TEXT NOT NULL,
    archived    INTEGER NOT NULL CHECK (archived IN (0, 1)),
    -- Its next number may be raised.
    allows_gaps INTEGER NOT NULL CHECK (allows_gaps IN (0, 1)),
    -- After a restore: numbers that were given after the backup may be in people's heads, so it gives none until it is
    -- told where to go on.
    held        INTEGER NOT NULL CHECK (held IN (0, 1)),
    -- It was resumed, and some of the tasks that came while it was held have no number yet.
    numbering   INTEGER NOT NULL CHECK (numbering IN (0, 1))
) STRICT;
CREATE INDEX series_by_account ON series (account_id);
CREATE UNIQUE INDEX series_by_project ON series (account_id, project) WHERE project <> '';
CREATE UNIQUE INDEX series_default ON series (account_id) WHERE is_default;
CREATE INDEX series_numbering ON series (series_id) WHERE numbering = 1;

-- Every prefix that a series has or had.
CREATE TABLE prefixes (
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL,
    series_id  INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (account_id, prefix)
) STRICT, WITHOUT ROWID;

-- One row for each (series, period): the last number given.
CREATE TABLE counters (
    counter_id  INTEGER PRIMARY KEY,
    series_id   INTEGER NOT NULL REFERENCES series,
    period      TEXT NOT NULL,
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    UNIQUE (series_id, period)
) STRICT;

-- Numbers of a counter that were left out on purpose, and are nobody's.
CREATE TABLE skipped_numbers (
    counter_id   INTEGER NOT NULL REFERENCES counters,
    first_number INTEGER NOT NULL CHECK (first_number >= 1),
    last_number  INTEGER NOT NULL CHECK (last_number >= first_number),
    PRIMARY KEY (counter_id, first_number)
) STRICT, WITHOUT ROWID;

-- ---- slots ----

-- state: 1 pending, 2 committed, 3 failed, 4 in flight: its creation is in the outbox. created: 0 if the task was there
-- already. (A check of three values in a list makes a temporary table for each row: a sixth of the writer's time.)
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
    CHECK ((state = 2) = (task_id IS NOT NULL)),
    CHECK ((state IN (1, 4)) = (settled_at IS NULL)),
    CHECK ((state = 3) = (reason <> 0))
) STRICT;
CREATE INDEX slots_failed ON slots (state) WHERE state = 3;

-- How long clients took to retry, for the reaper's window: one row for each class of accounts (1 here, 2 on another
-- server). times: RetryTimes.
CREATE TABLE retry_times (
    accounts INTEGER PRIMARY KEY CHECK (accounts IN (1, 2)),
    times    BLOB NOT NULL
) STRICT;

-- ---- tasks ----

-- prefix, number, seq, created_at are the receipt and never change. author: a token's id, or with a minus before it a
-- device's; NULL: the server itself, or nobody that is known any more. over: completed, deleted or purged; an account
-- has many such tasks and few others, which lists are mostly about. way_back: of its states in task_history of kind 2 since
-- the last whole one, in bytes.
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
    bytes      INTEGER NOT NULL CHECK (bytes >= 0),
    way_back   INTEGER NOT NULL CHECK (way_back >= 0),
    attributes BLOB NOT NULL,
    CHECK ((number IS NULL) = (counter_id IS NULL) AND (number IS NULL) = (prefix IS NULL)),
    CHECK ((number IS NULL) = (seq IS NULL))
) STRICT;
-- A uuid of ours is a UUIDv7 and lands at the end; a client's own may land anywhere.
CREATE UNIQUE INDEX tasks_by_uuid ON tasks (uuid, account_id);
-- They came while their series was held.
CREATE INDEX tasks_unnumbered ON tasks (series_id) WHERE number IS NULL;

-- How tasks stood before they were changed, for the feed. Appended by each change of a task that is there; creations
-- write nothing here. seq: of the version that brought the task to this state; ended_at: when the next one came. kind: 1
-- the whole state, 2 what leads back to it from the state after it, 3 purged.
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

-- Purged tasks whose text is still on the chain and in history: a sweep of the reaper removes it (src/rules/scrub.cpp)
-- and then the row. through: seq of the version with the last Delete of the task.
CREATE TABLE purges (
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_uuid  BLOB NOT NULL,
    through    INTEGER NOT NULL CHECK (through >= 1),
    PRIMARY KEY (account_id, task_uuid)
) STRICT, WITHOUT ROWID;

-- ---- chains of managed accounts ----

-- Version n of an account has seq n. author: as of tasks. bytes: about what its operations take (size_of).
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
-- Finds the place of a version that a device names as its last. Ours are UUIDv7s: they land at the end.
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);

-- What the device that was answered with it has: the chain up to left_at, and its own operations. Needed until its sync
-- has ended. seq: of the last of its device's own versions. place: 1, 2, 3 ... of the account's; bytes_before: what all
-- before it counted against its bound.
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

-- name: what people call it; '' for the client of an opaque account. key: the key its bodies are sealed with, itself
-- sealed under the master key; NULL as long as the account is opaque. resync_from: it was there when a backup was
-- restored: the seq of its account's head in the backup. resync_state: what was heard of it since: 1 nothing, 2 it was not
-- further than that, 3 it was, and what it alone had is here.
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

-- The index finds the child of a version, which is all that clients ask for, and lets no parent have two. The parent is
-- a UUIDv7 of ours but for the first of a chain, so entries land at the end.
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

-- The newest of each account. seq: of the version it is of; taken_seq: of the head when it came.
CREATE TABLE sealed_snapshots (
    account_id INTEGER PRIMARY KEY REFERENCES accounts,
    version_id BLOB NOT NULL,
    seq        INTEGER NOT NULL CHECK (seq >= 0),
    taken_seq  INTEGER NOT NULL,
    taken_at   INTEGER NOT NULL,
    size       INTEGER NOT NULL CHECK (size >= 0),
    bytes      BLOB NOT NULL
) STRICT;

-- ---- accounts whose tasks live on another TaskChampion server ----

-- cursor: the remote's version that the mirror has come to; before: the one before it; partial: its child, of which the
-- mirror has so many operations. Nil: none. key: what opens its bodies, sealed under the master key. moved_tasks: its
-- tasks are being sent there in the order of keys, and so many are there; moved_*: up to where, NULL: not one.
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

-- What is still to be sent there. kind: 1 the creation of a task, for a slot; 2 a task's key attribute.
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

-- How often another writer set a task's key attribute to something else.
CREATE TABLE key_contests (
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_uuid  BLOB NOT NULL,
    times      INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, task_uuid)
) STRICT, WITHOUT ROWID;

-- ---- webhooks ----

-- URLs that an account's changes are posted to. after_seq, after_tasks, mark: everything up to there was delivered.
-- disabled: why (domain/webhook.hpp); NULL: it is not.
CREATE TABLE webhooks (
    webhook_id  INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    uuid        BLOB NOT NULL UNIQUE,
    url         TEXT NOT NULL,
    filter      TEXT NOT NULL,
    secret      BLOB NOT NULL,
    after_seq   INTEGER NOT NULL,
    after_tasks INTEGER NOT NULL,
    mark        TEXT NOT NULL,
    disabled    INTEGER CHECK (disabled BETWEEN 1 AND 6),
    failures    INTEGER NOT NULL,
    edits       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_account ON webhooks (account_id);

-- The last attempts of each. place: 1, 2, 3 ... of its webhook's, of which a number is kept.
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

-- Slots by their clients' keys: sorted runs of (hash of account and key, slot id) (src/store/sqlite/index/key_index.hpp).
-- state: 1 being written, 2 in use, 3 to be deleted. through: every slot up to this one is in a run.
CREATE TABLE key_runs (
    run_id  INTEGER PRIMARY KEY,
    level   INTEGER NOT NULL,
    state   INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    entries INTEGER NOT NULL,
    through INTEGER NOT NULL
) STRICT;

-- page_id = run_id * 2^32 + number of the page in the run; 16 bytes an entry.
CREATE TABLE key_pages (
    page_id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
) STRICT;

-- Slots of state 1 or 4, up to index_progress.pending_through. Nearly every slot is pending for a moment alone: of the
-- newest the writer knows which are (src/store/sqlite/index/pending_slots.hpp), and those that stay so for longer are
-- listed here.
CREATE TABLE pending_slots (
    slot_id    INTEGER PRIMARY KEY REFERENCES slots,
    account_id INTEGER NOT NULL,
    task_uuid  BLOB NOT NULL
) STRICT;
-- A task that comes by way of a sync finds the slots that wait for its uuid.
CREATE INDEX pending_slots_by_task ON pending_slots (task_uuid, account_id);

-- Of a task with a number, up to index_progress.numbers_through, or behind it and merged since
-- (src/store/sqlite/index/bulk_index.hpp).
-- Open tasks and those that are over are each by themselves in order: a second index, of the open ones alone, would cost
-- a creation a page more for each series of a commit. It keeps numbers of one kind from being given twice; for both, a
-- counter is looked at against them before its first number is taken.
CREATE TABLE task_numbers (
    counter_id INTEGER NOT NULL,
    over       INTEGER NOT NULL CHECK (over IN (0, 1)),
    number     INTEGER NOT NULL,
    task_id    INTEGER NOT NULL,
    PRIMARY KEY (counter_id, over, number)
) STRICT, WITHOUT ROWID;

-- Of a version's row up to index_progress.places_through, or behind it and merged since.
CREATE TABLE version_places (
    account_id  INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    version_row INTEGER NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
