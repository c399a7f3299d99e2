-- Opaque accounts: the clients that open them, their chains of sealed versions, their snapshots.

-- 1 managed, 2 opaque. An account has one chain: versions, or sealed_versions; last_seq and last_version are its
-- head either way.
ALTER TABLE accounts ADD COLUMN mode INTEGER NOT NULL DEFAULT 1 CHECK (mode IN (1, 2));

CREATE TABLE devices (
    device_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    client_id  BLOB NOT NULL UNIQUE CHECK (length(client_id) = 16),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX devices_by_account ON devices (account_id);

-- Appended, whoever's they are: a version lands at the end of the table, and, its parent being a UUIDv7 of
-- ours but for the first of a chain, at the end of the index too. The index finds the child of a version, which
-- is all that clients ask for, and lets no parent have two.
CREATE TABLE sealed_versions (
    sealed_id  INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    parent_id  BLOB NOT NULL CHECK (length(parent_id) = 16),
    created_at INTEGER NOT NULL,
    segment    BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX sealed_versions_by_parent ON sealed_versions (parent_id, account_id);

-- The newest of each account. seq: of the version it is of; taken_seq: of the head when it came.
CREATE TABLE sealed_snapshots (
    account_id INTEGER PRIMARY KEY REFERENCES accounts,
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    seq        INTEGER NOT NULL CHECK (seq >= 0),
    taken_seq  INTEGER NOT NULL,
    taken_at   INTEGER NOT NULL,
    bytes      BLOB NOT NULL
) STRICT;
