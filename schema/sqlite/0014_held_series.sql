-- After a restore: numbers that were given after the backup may be in people's heads, so a series gives none until it is
-- told where to go on.
ALTER TABLE series ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));

-- Which store this is: another one from the moment that a backup of it takes its place.
CREATE TABLE instance (
    instance_id INTEGER PRIMARY KEY CHECK (instance_id = 1),
    uuid        BLOB NOT NULL CHECK (length(uuid) = 16)
) STRICT;
INSERT INTO instance (instance_id, uuid) VALUES (1, randomblob(16));

-- A device that was there then: the seq of its account's head in the backup, and what was heard of it since (1 nothing,
-- 2 it was not further than that, 3 it was, and what it alone had is here).
ALTER TABLE devices ADD COLUMN resync_from INTEGER CHECK (resync_from >= 0);
ALTER TABLE devices ADD COLUMN resync_state INTEGER CHECK (resync_state BETWEEN 1 AND 3);
