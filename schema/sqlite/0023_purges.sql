-- Purged tasks whose text is still on the chain and in history: a sweep of the reaper removes it (src/rules/scrub.cpp)
-- and then the row. through: seq of the version with the last Delete of the task.
CREATE TABLE purges (
    account_id INTEGER NOT NULL REFERENCES accounts,
    task_uuid  BLOB NOT NULL CHECK (length(task_uuid) = 16),
    through    INTEGER NOT NULL CHECK (through >= 1),
    PRIMARY KEY (account_id, task_uuid)
) STRICT, WITHOUT ROWID;

-- Those that were purged before. seq 0: numbered without ever being seen.
INSERT INTO purges SELECT account_id, uuid, last_seq FROM tasks WHERE purged = 1 AND seq > 0;
