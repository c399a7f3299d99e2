-- How long clients took to retry, for the reaper's window: one row for each class of accounts (1 here, 2 on another
-- server). times: rows/v1/rows.proto, RetryTimes.
CREATE TABLE retry_times (
    accounts INTEGER PRIMARY KEY CHECK (accounts IN (1, 2)),
    times    BLOB NOT NULL
) STRICT;
