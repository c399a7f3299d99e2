-- Managed accounts: devices with keys of their own, and side versions.

-- name: what people call it; '' for the client of an opaque account. key: the key its bodies are sealed with,
-- itself sealed under the master key; NULL as long as the account is opaque.
ALTER TABLE devices ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE devices ADD COLUMN key BLOB;
ALTER TABLE devices ADD COLUMN revoked_at INTEGER;
CREATE UNIQUE INDEX devices_by_name ON devices (account_id, name) WHERE name <> '' AND revoked_at IS NULL;

-- Finds the place of a version that a device names as its last. Ours are UUIDv7s: they land at the end.
CREATE UNIQUE INDEX versions_by_id ON versions (version_id, account_id);

-- Versions up to this one were sealed once: tasks that came and went before it have no row.
ALTER TABLE accounts ADD COLUMN sealed_seq INTEGER NOT NULL DEFAULT 0 CHECK (sealed_seq >= 0);

-- What the device that was answered with it has: the chain up to left_at, and its own operations. seq: of the
-- chain's version that comes next for it; operations: what that version is to it, or NULL: what it lacked at
-- parent_id, and the chain's versions from there to before seq. Needed until its sync has ended.
CREATE TABLE side_versions (
    version_id BLOB NOT NULL CHECK (length(version_id) = 16),
    account_id INTEGER NOT NULL REFERENCES accounts,
    parent_id  BLOB NOT NULL CHECK (length(parent_id) = 16),
    left_at    INTEGER NOT NULL CHECK (left_at >= 0),
    seq        INTEGER NOT NULL CHECK (seq > left_at),
    created_at INTEGER NOT NULL,
    operations BLOB,
    PRIMARY KEY (version_id, account_id)
) STRICT, WITHOUT ROWID;

-- A task that comes by way of a sync finds the slots that wait for its uuid.
CREATE INDEX slots_by_uuid ON slots (uuid, account_id) WHERE state = 1;
