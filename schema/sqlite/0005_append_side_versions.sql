-- Side versions are appended, whoever's they are: by account, each of a batch touched a page of its own. Which of
-- an account's are within its bounds its row says. Those there were are forgotten: a device that was in the middle
-- of its sync is answered 410 once, and its next sync begins on the chain.

DROP TABLE side_versions;

-- seq: of the last of its device's own versions. way: store/v1/rows.proto. place: 1, 2, 3 ... in the order of the
-- account's; bytes_before: what all before it counted against its bound.
CREATE TABLE side_versions (
    version_id   BLOB NOT NULL CHECK (length(version_id) = 16),
    account_id   INTEGER NOT NULL REFERENCES accounts,
    left_at      INTEGER NOT NULL CHECK (left_at >= 0),
    seq          INTEGER NOT NULL CHECK (seq > left_at),
    created_at   INTEGER NOT NULL,
    way          BLOB NOT NULL,
    place        INTEGER NOT NULL CHECK (place >= 1),
    bytes_before INTEGER NOT NULL,
    PRIMARY KEY (version_id, account_id)
) STRICT, WITHOUT ROWID;

-- All there have been, and their bytes. Gone are those up to a place, and those with fewer bytes before them.
ALTER TABLE accounts ADD COLUMN side_place INTEGER NOT NULL DEFAULT 0 CHECK (side_place >= 0);
ALTER TABLE accounts ADD COLUMN side_bytes INTEGER NOT NULL DEFAULT 0 CHECK (side_bytes >= 0);
ALTER TABLE accounts ADD COLUMN side_gone_to INTEGER NOT NULL DEFAULT 0 CHECK (side_gone_to >= 0);
ALTER TABLE accounts ADD COLUMN side_gone_below INTEGER NOT NULL DEFAULT 0 CHECK (side_gone_below >= 0);
