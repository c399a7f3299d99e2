-- A store as schema 4 has it: an account with three tasks, a slot pending and one failed, an opaque account, a device with a key, a side version.
BEGIN TRANSACTION;
CREATE TABLE accounts (
    account_id   INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL DEFAULT 0 CHECK (last_seq >= 0),
    last_version BLOB NOT NULL CHECK (length(last_version) = 16)
, mode INTEGER NOT NULL DEFAULT 1 CHECK (mode IN (1, 2)), sealed_seq INTEGER NOT NULL DEFAULT 0 CHECK (sealed_seq >= 0)) STRICT;
INSERT INTO accounts VALUES(1,'home',1700000000000,3,X'018bcfe5680070678000000000000067',1,0);
INSERT INTO accounts VALUES(2,'sealed',1700000000000,2,X'018bcfe5680070ca80000000000000ca',2,0);
CREATE TABLE counters (
    counter_id  INTEGER PRIMARY KEY,
    series_id   INTEGER NOT NULL REFERENCES series,
    period      TEXT NOT NULL DEFAULT '',
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    UNIQUE (series_id, period)
) STRICT;
INSERT INTO counters VALUES(1,1,'',3);
CREATE TABLE devices (
    device_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    client_id  BLOB NOT NULL UNIQUE CHECK (length(client_id) = 16),
    created_at INTEGER NOT NULL
, name TEXT NOT NULL DEFAULT '', key BLOB, revoked_at INTEGER) STRICT;
INSERT INTO devices VALUES(1,2,X'018bcfe56800704d800000000000004d',1700000000000,'',NULL,NULL);
INSERT INTO devices VALUES(2,1,X'018bcfe56800704e800000000000004e',1700000000000,'laptop',X'0102',NULL);
CREATE TABLE key_pages (
    page_id INTEGER PRIMARY KEY,
    entries BLOB NOT NULL
) STRICT;
INSERT INTO key_pages VALUES(4294967296,X'e0f7f1b2ad3f1f75030000000000000055ecac8391258a8b01000000000000007ac3608707908ae60200000000000000');
CREATE TABLE key_runs (
    run_id  INTEGER PRIMARY KEY,
    level   INTEGER NOT NULL,
    state   INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    entries INTEGER NOT NULL,
    -- Every slot up to this one is in a run.
    through INTEGER NOT NULL
) STRICT;
INSERT INTO key_runs VALUES(1,0,2,3,3);
CREATE TABLE prefixes (
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL,
    series_id  INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (account_id, prefix)
) STRICT, WITHOUT ROWID;
INSERT INTO prefixes VALUES(1,'SYN',1);
INSERT INTO prefixes VALUES(2,'TASK',2);
CREATE TABLE sealed_snapshots (
    account_id INTEGER PRIMARY KEY REFERENCES accounts,
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    seq        INTEGER NOT NULL CHECK (seq >= 0),
    taken_seq  INTEGER NOT NULL,
    taken_at   INTEGER NOT NULL,
    bytes      BLOB NOT NULL
) STRICT;
INSERT INTO sealed_snapshots VALUES(2,X'018bcfe5680070c980000000000000c9',1,2,1700000000005,X'736e617073686f74');
CREATE TABLE sealed_versions (
    sealed_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    parent_id  BLOB NOT NULL CHECK (length(parent_id) = 16),
    created_at INTEGER NOT NULL,
    segment    BLOB NOT NULL
) STRICT;
INSERT INTO sealed_versions VALUES(1,2,1,X'018bcfe5680070c980000000000000c9',X'018bcfe5680070c880000000000000c8',1700000000001,X'7365676d656e74');
INSERT INTO sealed_versions VALUES(2,2,2,X'018bcfe5680070ca80000000000000ca',X'018bcfe5680070c980000000000000c9',1700000000002,X'7365676d656e74');
CREATE TABLE series (
    series_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    prefix     TEXT NOT NULL CHECK (length(prefix) BETWEEN 1 AND 10),
    project    TEXT NOT NULL DEFAULT '',
    is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO series VALUES(1,1,'SYN','',1,1700000000000);
INSERT INTO series VALUES(2,2,'TASK','',1,1700000000000);
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
INSERT INTO slots VALUES(1,1,'key-1',X'be2974546978e3739e6d6da85c4be9f334ce32df2b9fd4b6ff1b55c0d57e9d44',X'018bcfe5680070018000000000000001',1700000000001,1,1,0,2,1,1700000000001);
INSERT INTO slots VALUES(2,1,'key-2',X'7c36b0a9dedde119c75165957c6c9c187e65df1ee5db87c4c58ad503ad88cbe3',X'018bcfe5680070028000000000000002',1700000000002,1,1,0,2,2,1700000000002);
INSERT INTO slots VALUES(3,1,'key-3',X'd9ef8196557c9da69806fb5d777f4e5ad6d5c18593039e0ff62f9fdf003b0198',X'018bcfe5680070038000000000000003',1700000000003,1,1,0,2,3,1700000000003);
INSERT INTO slots VALUES(4,1,'key-4',X'f5404d68a86b01ee138f6d135cb9952fc6f804f5ab4104a8d4a5fb06e4e1b197',X'018bcfe5680070048000000000000004',1700000000004,1,1,0,1,NULL,NULL);
INSERT INTO slots VALUES(5,1,'key-5',X'043e30951bc4eac6c587191be09ec64110933b6c5e633e695462333318561e55',X'018bcfe5680070058000000000000005',1700000000005,1,1,1,3,NULL,1700000000009);
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
INSERT INTO tasks VALUES(1,1,X'018bcfe5680070018000000000000001',1,1,1,'SYN',1,1,1700000000001,0,X'0a150a0b6465736372697074696f6e12067461736b20310a110a06737461747573120770656e64696e67');
INSERT INTO tasks VALUES(2,1,X'018bcfe5680070028000000000000002',1,1,2,'SYN',2,2,1700000000002,0,X'0a150a0b6465736372697074696f6e12067461736b20320a110a06737461747573120770656e64696e67');
INSERT INTO tasks VALUES(3,1,X'018bcfe5680070038000000000000003',1,1,3,'SYN',3,3,1700000000003,0,X'0a150a0b6465736372697074696f6e12067461736b20330a110a06737461747573120770656e64696e67');
CREATE TABLE tokens (
    token_id   INTEGER PRIMARY KEY,
    account_id INTEGER REFERENCES accounts,
    name       TEXT NOT NULL,
    scope      INTEGER NOT NULL CHECK (scope IN (1, 2, 3)),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
INSERT INTO tokens VALUES(1,1,'default',2,X'3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0',1700000000000,NULL);
CREATE TABLE totals (
    only        INTEGER PRIMARY KEY CHECK (only = 1),
    pending     INTEGER NOT NULL CHECK (pending >= 0),
    committed   INTEGER NOT NULL CHECK (committed >= 0),
    failed      INTEGER NOT NULL CHECK (failed >= 0),
    last_slot   INTEGER NOT NULL,
    last_moment INTEGER NOT NULL
) STRICT;
INSERT INTO totals VALUES(1,1,3,1,5,1700000000009);
CREATE TABLE versions (
    account_id INTEGER NOT NULL REFERENCES accounts,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    parent_id  BLOB NOT NULL CHECK (length(parent_id) = 16),
    created_at INTEGER NOT NULL,
    operations BLOB NOT NULL,
    PRIMARY KEY (account_id, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO versions VALUES(1,1,X'018bcfe5680070658000000000000065',X'00000000000000000000000000000000',1700000000001,X'0a1408011210018bcfe56800700180000000000000010a1e08031a0b6465736372697074696f6e22067461736b20312881d095ffbc310a1a08031a06737461747573220770656e64696e672881d095ffbc31');
INSERT INTO versions VALUES(1,2,X'018bcfe5680070668000000000000066',X'018bcfe5680070658000000000000065',1700000000002,X'0a1408011210018bcfe56800700280000000000000020a1e08031a0b6465736372697074696f6e22067461736b20322882d095ffbc310a1a08031a06737461747573220770656e64696e672882d095ffbc31');
INSERT INTO versions VALUES(1,3,X'018bcfe5680070678000000000000067',X'018bcfe5680070668000000000000066',1700000000003,X'0a1408011210018bcfe56800700380000000000000030a1e08031a0b6465736372697074696f6e22067461736b20332883d095ffbc310a1a08031a06737461747573220770656e64696e672883d095ffbc31');
CREATE TABLE side_versions (
    account_id   INTEGER NOT NULL REFERENCES accounts,
    place        INTEGER NOT NULL CHECK (place >= 1),
    version_id   BLOB NOT NULL CHECK (length(version_id) = 16),
    left_at      INTEGER NOT NULL CHECK (left_at >= 0),
    seq          INTEGER NOT NULL CHECK (seq > left_at),
    created_at   INTEGER NOT NULL,
    way          BLOB NOT NULL,
    bytes_before INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    PRIMARY KEY (account_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO side_versions VALUES(1,1,X'018bcfe5680070708000010000000000',1,3,1700000000003,X'0a0102',0,68);
CREATE INDEX series_by_account ON series (account_id);
CREATE UNIQUE INDEX series_by_project ON series (account_id, project) WHERE project <> '';
CREATE UNIQUE INDEX series_default ON series (account_id) WHERE is_default;
CREATE INDEX tokens_by_account ON tokens (account_id);
CREATE INDEX slots_pending ON slots (state) WHERE state = 1;
CREATE INDEX slots_failed ON slots (state) WHERE state = 3;
CREATE UNIQUE INDEX tasks_by_uuid ON tasks (uuid, account_id);
CREATE UNIQUE INDEX tasks_by_number ON tasks (counter_id, number) WHERE number IS NOT NULL;
CREATE INDEX devices_by_account ON devices (account_id);
CREATE UNIQUE INDEX sealed_versions_by_parent ON sealed_versions (parent_id, account_id);
CREATE UNIQUE INDEX devices_by_name ON devices (account_id, name) WHERE name <> '' AND revoked_at IS NULL;
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);
CREATE INDEX slots_by_uuid ON slots (uuid, account_id) WHERE state = 1;
CREATE UNIQUE INDEX side_versions_by_id ON side_versions (version_id, account_id);
COMMIT;
PRAGMA user_version = 4;
