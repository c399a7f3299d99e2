-- All tables, in a schema of their own, which is the search path. The columns are those of schema/sqlite: see there for
-- what they mean. Differences:
--
-- * Text that clients or operators choose is bytea, since text cannot contain every byte sequence:
--   convert_from(name, 'UTF8') shows it. Other text is COLLATE "C": in the order of bytes.
-- * There are no foreign keys, since they would cost a read for each row: `callsign check` verifies the references.
-- * No row is updated by nearly every batch: while one old snapshot exists, such as that of pg_dump, each read of the row
--   would visit all its former versions. Columns that change so often are appended as a row of the batch, and views show
--   the latest.
-- * There are no sequences, triggers and functions: IDs, times and totals come from the server.

-- ---- the store ----

-- The batch log (docs/nodes.md): each write transaction appends row n = last + 1. The server that wrote the last row owns
-- the store; a second server takes it over by writing the next row. kind: 1 takeover, 2 batch, 3 heartbeat, 4 nothing (a
-- row that prevents a batch whose outcome was unknown), 5 release: the owner has stopped, 6 a move to this database is in
-- progress or unfinished, 7 the store was moved away. owner: a run of a server. at, server: the
-- owner's wall clock and name, for operators only. lost_through: the log had reached this row, and the database has lost it; 0: none.
-- schema_version: the last file of schema/postgres that was applied.
-- The rest are totals (schema/sqlite).
CREATE TABLE batches (
    n               bigint PRIMARY KEY CHECK (n >= 1),
    owner           uuid NOT NULL,
    kind            smallint NOT NULL CHECK (kind BETWEEN 1 AND 7),
    schema_version  smallint NOT NULL,
    at              bigint NOT NULL,
    server          bytea NOT NULL,
    lost_through    bigint NOT NULL CHECK (lost_through >= 0),
    -- Open slots up to this one are listed in pending_slots; later ones are found by their state.
    pending_through bigint NOT NULL DEFAULT 0 CHECK (pending_through >= 0),
    pending         bigint NOT NULL DEFAULT 0 CHECK (pending >= 0),
    in_flight       bigint NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    committed       bigint NOT NULL DEFAULT 0 CHECK (committed >= 0),
    failed          bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    accounts        bigint NOT NULL DEFAULT 0 CHECK (accounts >= 0),
    tasks           bigint NOT NULL DEFAULT 0 CHECK (tasks >= 0),
    open_tasks      bigint NOT NULL DEFAULT 0 CHECK (open_tasks >= 0),
    held_series     bigint NOT NULL DEFAULT 0 CHECK (held_series >= 0),
    last_moment     bigint NOT NULL DEFAULT 0,
    last_account    bigint NOT NULL DEFAULT 0,
    last_token      bigint NOT NULL DEFAULT 0,
    last_action     bigint NOT NULL DEFAULT 0,
    last_series     bigint NOT NULL DEFAULT 0,
    last_counter    bigint NOT NULL DEFAULT 0,
    last_slot       bigint NOT NULL DEFAULT 0,
    last_task       bigint NOT NULL DEFAULT 0,
    last_history    bigint NOT NULL DEFAULT 0,
    last_version    bigint NOT NULL DEFAULT 0,
    last_fork       bigint NOT NULL DEFAULT 0,
    last_device     bigint NOT NULL DEFAULT 0,
    last_sealed     bigint NOT NULL DEFAULT 0,
    last_effect     bigint NOT NULL DEFAULT 0,
    last_webhook    bigint NOT NULL DEFAULT 0,
    last_delivery   bigint NOT NULL DEFAULT 0
);
CREATE VIEW totals AS SELECT bigint '1' AS totals_id, b.* FROM batches b ORDER BY n DESC LIMIT 1;

CREATE TABLE instance (
    instance_id bigint PRIMARY KEY CHECK (instance_id = 1),
    uuid        uuid NOT NULL
);

-- ---- accounts ----

CREATE TABLE account_rows (
    account_id bigint PRIMARY KEY,
    name       bytea NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    mode       smallint NOT NULL CHECK (mode IN (1, 2)),
    state      smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    deleted_at bigint,
    elsewhere  smallint NOT NULL CHECK (elsewhere IN (0, 1))
);
CREATE UNIQUE INDEX accounts_deleted ON account_rows (deleted_at, account_id) WHERE deleted_at IS NOT NULL;

-- The rows of an account with the highest n are current.
CREATE TABLE account_heads (
    account_id    bigint,
    n             bigint,
    last_seq      bigint NOT NULL CHECK (last_seq >= 0),
    last_version  uuid NOT NULL,
    sealed_seq    bigint NOT NULL CHECK (sealed_seq >= 0),
    history_from  bigint NOT NULL,
    stored_bytes  bigint NOT NULL CHECK (stored_bytes >= 0),
    fork_versions bigint NOT NULL CHECK (fork_versions >= 0),
    fork_bytes    bigint NOT NULL CHECK (fork_bytes >= 0),
    PRIMARY KEY (account_id, n)
);
CREATE VIEW accounts AS
    SELECT * FROM account_rows r CROSS JOIN LATERAL
        (SELECT n, last_seq, last_version, sealed_seq, history_from, stored_bytes, fork_versions, fork_bytes
         FROM account_heads h WHERE h.account_id = r.account_id ORDER BY n DESC LIMIT 1) last;

CREATE TABLE tokens (
    token_id   bigint PRIMARY KEY,
    account_id bigint,
    name       bytea NOT NULL,
    scope      smallint NOT NULL CHECK (scope IN (1, 2, 3)),
    hash       bytea NOT NULL UNIQUE,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
);
CREATE UNIQUE INDEX tokens_by_account ON tokens (account_id, token_id) WHERE account_id IS NOT NULL;
CREATE INDEX tokens_of_operator ON tokens (token_id) WHERE account_id IS NULL;

CREATE TABLE admin_actions (
    action_id        bigint PRIMARY KEY,
    done_at          bigint NOT NULL,
    token_id         bigint,
    token_name       bytea NOT NULL,
    actor_account_id bigint,
    actor_place      bigint NOT NULL,
    address          bytea NOT NULL,
    action           bytea NOT NULL,
    account_id       bigint,
    account_name     bytea NOT NULL,
    subject          bytea NOT NULL
);
CREATE UNIQUE INDEX admin_actions_by_account ON admin_actions (account_id, action_id) WHERE account_id IS NOT NULL;
CREATE UNIQUE INDEX admin_actions_by_actor ON admin_actions (actor_account_id, action_id)
    WHERE actor_account_id IS NOT NULL;

-- ---- series and numbers ----

CREATE TABLE series (
    series_id      bigint PRIMARY KEY,
    account_id     bigint NOT NULL,
    prefix         text COLLATE "C" NOT NULL CHECK (prefix <> ''),
    project        bytea NOT NULL,
    is_default     boolean NOT NULL,
    created_at     bigint NOT NULL,
    last_period    text COLLATE "C" NOT NULL,
    reset          smallint NOT NULL CHECK (reset BETWEEN 1 AND 4),
    time_zone      text COLLATE "C" NOT NULL,
    archived       smallint NOT NULL CHECK (archived IN (0, 1)),
    allows_gaps    smallint NOT NULL CHECK (allows_gaps IN (0, 1)),
    held           smallint NOT NULL CHECK (held IN (0, 1)),
    numbering      smallint NOT NULL CHECK (numbering IN (0, 1)),
    renamed_seq    bigint,
    renamed_period text COLLATE "C" NOT NULL,
    renamed_number bigint NOT NULL
);
CREATE UNIQUE INDEX series_by_account ON series (account_id, series_id);
CREATE UNIQUE INDEX series_by_project ON series (account_id, project) WHERE project <> '';
CREATE UNIQUE INDEX series_default ON series (account_id) WHERE is_default;
CREATE INDEX series_numbering ON series (series_id) WHERE numbering = 1;
CREATE INDEX series_renamed ON series (series_id) WHERE renamed_seq IS NOT NULL;

CREATE TABLE prefixes (
    account_id bigint,
    prefix     text COLLATE "C",
    series_id  bigint NOT NULL,
    PRIMARY KEY (account_id, prefix)
);

CREATE TABLE counter_rows (
    counter_id bigint PRIMARY KEY,
    series_id  bigint NOT NULL,
    period     text COLLATE "C" NOT NULL,
    UNIQUE (series_id, period)
);
CREATE TABLE counter_heads (
    counter_id  bigint,
    n           bigint,
    last_number bigint NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (counter_id, n)
);
CREATE VIEW counters AS
    SELECT * FROM counter_rows r CROSS JOIN LATERAL
        (SELECT n, last_number FROM counter_heads h WHERE h.counter_id = r.counter_id
         ORDER BY n DESC LIMIT 1) last;

CREATE TABLE skipped_numbers (
    counter_id   bigint,
    first_number bigint CHECK (first_number >= 1),
    last_number  bigint NOT NULL CHECK (last_number >= first_number),
    PRIMARY KEY (counter_id, first_number)
);

-- ---- slots ----

-- Nearly every slot is updated once, soon after it was inserted, in columns that are in no index: with free space on its
-- page PostgreSQL changes no index for that.
CREATE TABLE slots (
    slot_id     bigint PRIMARY KEY,
    account_id  bigint NOT NULL,
    created_at  bigint NOT NULL,
    attempts    bigint NOT NULL,
    task_id     bigint,
    settled_at  bigint,
    uuid        uuid NOT NULL,
    created     smallint NOT NULL CHECK (created IN (0, 1)),
    reason      smallint NOT NULL,
    state       smallint NOT NULL CHECK (state BETWEEN 1 AND 4),
    expires     smallint NOT NULL CHECK (expires IN (0, 1)),
    key         bytea NOT NULL,
    fingerprint bytea NOT NULL,
    UNIQUE (account_id, key),
    CHECK ((state = 2) = (task_id IS NOT NULL)),
    CHECK ((state IN (1, 4)) = (settled_at IS NULL)),
    CHECK ((state = 3) = (reason <> 0))
) WITH (fillfactor = 75);
CREATE INDEX slots_expiring ON slots (slot_id) WHERE expires = 1;

-- Open slots (state 1 or 4) up to batches.pending_through.
CREATE TABLE pending_slots (
    slot_id bigint PRIMARY KEY
);
CREATE VIEW open_slots AS
    SELECT s.* FROM pending_slots p JOIN slots s USING (slot_id)
    UNION ALL
    SELECT * FROM slots
    WHERE slot_id > (SELECT pending_through FROM batches ORDER BY n DESC LIMIT 1) AND state IN (1, 4);

CREATE TABLE retry_times (
    accounts smallint PRIMARY KEY CHECK (accounts IN (1, 2)),
    times    bytea NOT NULL
);

-- ---- tasks ----

CREATE TABLE tasks (
    task_id    bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    series_id  bigint NOT NULL,
    counter_id bigint,
    number     bigint CHECK (number >= 1),
    seq        bigint,
    last_seq   bigint NOT NULL,
    created_at bigint NOT NULL,
    author     bigint,
    slot_id    bigint,
    bytes      bigint NOT NULL CHECK (bytes >= 0),
    way_back   bigint NOT NULL CHECK (way_back >= 0),
    uuid       uuid NOT NULL,
    purged     smallint NOT NULL CHECK (purged IN (0, 1)),
    over       smallint NOT NULL CHECK (over IN (0, 1)),
    prefix     text COLLATE "C",
    attributes bytea NOT NULL,
    CHECK ((number IS NULL) = (counter_id IS NULL) AND (number IS NULL) = (prefix IS NULL)),
    CHECK ((number IS NULL) = (seq IS NULL))
);
CREATE UNIQUE INDEX tasks_by_uuid ON tasks (uuid, account_id);
CREATE UNIQUE INDEX tasks_by_number ON tasks (counter_id, number);
CREATE UNIQUE INDEX tasks_open ON tasks (counter_id, number) WHERE over = 0;
CREATE INDEX tasks_without_number ON tasks (task_id) WHERE number IS NULL;
CREATE INDEX tasks_unnumbered ON tasks (series_id, task_id) WHERE number IS NULL;

CREATE TABLE task_history (
    history_id bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    task_id    bigint NOT NULL,
    seq        bigint NOT NULL,
    ended_at   bigint NOT NULL,
    bytes      bigint NOT NULL CHECK (bytes >= 0),
    kind       smallint NOT NULL CHECK (kind BETWEEN 1 AND 3),
    attributes bytea NOT NULL,
    UNIQUE (task_id, seq)
);

CREATE TABLE purges (
    account_id bigint,
    task_uuid  uuid,
    through    bigint NOT NULL CHECK (through >= 1),
    PRIMARY KEY (account_id, task_uuid)
);

CREATE TABLE requests (
    account_id  bigint,
    key         bytea,
    fingerprint bytea NOT NULL,
    at          bigint NOT NULL,
    subject     bigint NOT NULL,
    seq         bigint NOT NULL,
    sealed      bytea NOT NULL,
    PRIMARY KEY (account_id, key)
);
CREATE UNIQUE INDEX requests_by_time ON requests (at, account_id, key);

-- ---- chains of managed accounts ----

CREATE TABLE versions (
    version_row bigint PRIMARY KEY,
    account_id  bigint NOT NULL,
    seq         bigint NOT NULL CHECK (seq >= 1),
    created_at  bigint NOT NULL,
    author      bigint,
    bytes       bigint NOT NULL CHECK (bytes >= 0),
    version_id  uuid NOT NULL,
    parent_id   uuid NOT NULL,
    operations  bytea NOT NULL
);
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);
CREATE UNIQUE INDEX versions_by_seq ON versions (account_id, seq);

CREATE TABLE fork_versions (
    fork_row     bigint PRIMARY KEY,
    account_id   bigint NOT NULL,
    place        bigint NOT NULL CHECK (place >= 1),
    left_at      bigint NOT NULL CHECK (left_at >= 0),
    seq          bigint NOT NULL CHECK (seq > left_at),
    created_at   bigint NOT NULL,
    bytes_before bigint NOT NULL,
    version_id   uuid NOT NULL,
    way          bytea NOT NULL,
    UNIQUE (account_id, place),
    UNIQUE (version_id, account_id)
);

-- ---- devices, and chains of opaque accounts ----

CREATE TABLE devices (
    device_id    bigint PRIMARY KEY,
    account_id   bigint NOT NULL,
    client_id    uuid NOT NULL UNIQUE,
    name         bytea NOT NULL,
    key          bytea,
    created_at   bigint NOT NULL,
    revoked_at   bigint,
    resync_from  bigint CHECK (resync_from >= 0),
    resync_state smallint CHECK (resync_state BETWEEN 1 AND 3)
);
CREATE UNIQUE INDEX devices_by_account ON devices (account_id, device_id);
CREATE UNIQUE INDEX devices_by_name ON devices (account_id, name) WHERE name <> '' AND revoked_at IS NULL;

CREATE TABLE sealed_versions (
    sealed_id  bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    seq        bigint NOT NULL CHECK (seq >= 1),
    created_at bigint NOT NULL,
    bytes      bigint NOT NULL CHECK (bytes >= 0),
    version_id uuid NOT NULL,
    parent_id  uuid NOT NULL,
    segment    bytea NOT NULL
);
-- Encrypted bytes cannot be compressed.
ALTER TABLE sealed_versions ALTER COLUMN segment SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX sealed_versions_by_parent ON sealed_versions (parent_id, account_id);

CREATE TABLE sealed_snapshots (
    account_id bigint PRIMARY KEY,
    version_id uuid NOT NULL,
    seq        bigint NOT NULL CHECK (seq >= 0),
    taken_seq  bigint NOT NULL,
    taken_at   bigint NOT NULL,
    size       bigint NOT NULL CHECK (size >= 0),
    bytes      bytea NOT NULL
);
ALTER TABLE sealed_snapshots ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- ---- remote accounts ----

CREATE TABLE remotes (
    account_id         bigint PRIMARY KEY,
    url                bytea NOT NULL,
    client_id          uuid NOT NULL,
    key                bytea NOT NULL,
    cursor             uuid NOT NULL,
    before             uuid NOT NULL,
    partial            uuid NOT NULL,
    partial_operations bigint NOT NULL CHECK (partial_operations >= 0),
    halted             smallint NOT NULL CHECK (halted BETWEEN 0 AND 2),
    moved_tasks        bigint CHECK (moved_tasks >= 0),
    moved_series       bigint,
    moved_period       text COLLATE "C",
    moved_number       bigint
);

CREATE TABLE outbox (
    effect_id  bigint PRIMARY KEY,
    account_id bigint NOT NULL,
    kind       smallint NOT NULL CHECK (kind IN (1, 2)),
    slot_id    bigint,
    task_uuid  uuid NOT NULL,
    prefix     text COLLATE "C" NOT NULL,
    operations bytea NOT NULL,
    author     bigint,
    attempts   bigint NOT NULL CHECK (attempts >= 0),
    parent     uuid NOT NULL,
    created_at bigint NOT NULL,
    CHECK ((kind = 1) = (slot_id IS NOT NULL)),
    UNIQUE (account_id, effect_id),
    UNIQUE (task_uuid, account_id, kind)
);

CREATE TABLE key_contests (
    account_id bigint,
    task_uuid  uuid,
    times      bigint NOT NULL,
    last_at    bigint NOT NULL,
    PRIMARY KEY (account_id, task_uuid)
);

-- ---- webhooks ----

CREATE TABLE webhooks (
    webhook_id   bigint PRIMARY KEY,
    account_id   bigint NOT NULL,
    uuid         uuid NOT NULL,
    url          bytea NOT NULL,
    filter       bytea NOT NULL,
    secret       bytea NOT NULL,
    former_until bigint,
    after_seq    bigint NOT NULL,
    after_tasks  bigint NOT NULL,
    mark         bytea NOT NULL,
    disabled     smallint CHECK (disabled BETWEEN 1 AND 6),
    failures     bigint NOT NULL,
    edits        bigint NOT NULL,
    created_at   bigint NOT NULL,
    UNIQUE (uuid, account_id)
);
CREATE UNIQUE INDEX webhooks_by_account ON webhooks (account_id, webhook_id);

CREATE TABLE webhook_deliveries (
    delivery_id bigint PRIMARY KEY,
    webhook_id  bigint NOT NULL,
    place       bigint NOT NULL CHECK (place >= 1),
    sent_as     bytea NOT NULL,
    at          bigint NOT NULL,
    changes     bigint NOT NULL,
    status      bigint NOT NULL,
    error       bytea NOT NULL,
    delivered   bigint NOT NULL,
    took_ms     bigint NOT NULL
);
CREATE UNIQUE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, delivery_id);
