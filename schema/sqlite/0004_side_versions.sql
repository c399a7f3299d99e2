-- Side versions refer to the chain and copy none of it. Those there were are forgotten: a device that was in the
-- middle of its sync is answered 410 once, and its next sync begins on the chain.

DROP TABLE side_versions;

-- place: 1, 2, 3 ... in the order of the account's. seq: of the last of its device's own versions. way:
-- store/v1/rows.proto. bytes: what it counts against the account's bound; bytes_before: all before it.
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
CREATE UNIQUE INDEX side_versions_by_id ON side_versions (version_id, account_id);
