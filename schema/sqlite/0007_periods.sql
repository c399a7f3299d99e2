-- Series that begin again with each period, that are not used any more, and numbers that nobody has.

-- reset: 1 never, 2 daily, 3 monthly, 4 yearly, in the time zone. allows_gaps: its next number may be raised.
ALTER TABLE series ADD COLUMN reset INTEGER NOT NULL DEFAULT 1 CHECK (reset BETWEEN 1 AND 4);
ALTER TABLE series ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE series ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1));
ALTER TABLE series ADD COLUMN allows_gaps INTEGER NOT NULL DEFAULT 0 CHECK (allows_gaps IN (0, 1));

-- Numbers of a counter that were left out on purpose, and are nobody's.
CREATE TABLE skipped_numbers (
    counter_id   INTEGER NOT NULL REFERENCES counters,
    first_number INTEGER NOT NULL CHECK (first_number >= 1),
    last_number  INTEGER NOT NULL CHECK (last_number >= first_number),
    PRIMARY KEY (counter_id, first_number)
) STRICT, WITHOUT ROWID;
