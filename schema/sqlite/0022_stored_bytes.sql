-- How many bytes each account's versions and its snapshot take, kept by the transactions that change them: what
-- accounts.stored_bytes_max is held against. The row is written with the head of its chain anyway.
ALTER TABLE accounts ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stored_bytes >= 0);

UPDATE accounts SET stored_bytes = found.bytes FROM (
    SELECT account_id, sum(bytes) AS bytes FROM (
        SELECT account_id, length(operations) AS bytes FROM versions
        UNION ALL SELECT account_id, length(segment) FROM sealed_versions
        UNION ALL SELECT account_id, length(bytes) FROM sealed_snapshots)
    GROUP BY account_id) AS found WHERE found.account_id = accounts.account_id;
