-- Pending slots without an index of their own. Nearly every slot is pending for a moment alone: each creation entered
-- two partial indexes in its first commit, and left them in its second. Of the newest slots the writer knows which are
-- pending (src/store/sqlite/pending_slots.hpp); those that stay so for longer are listed here.

-- Slots of state 1, up to totals.pending_through.
CREATE TABLE pending_slots (
    slot_id    INTEGER PRIMARY KEY REFERENCES slots,
    account_id INTEGER NOT NULL,
    task_uuid  BLOB NOT NULL CHECK (length(task_uuid) = 16)
) STRICT;
-- A task that comes by way of a sync finds the slots that wait for its uuid.
CREATE INDEX pending_slots_by_task ON pending_slots (task_uuid, account_id);
INSERT INTO pending_slots SELECT slot_id, account_id, uuid FROM slots WHERE state = 1;
DROP INDEX slots_pending;
DROP INDEX slots_by_uuid;

ALTER TABLE totals ADD COLUMN pending_through INTEGER NOT NULL DEFAULT 0 CHECK (pending_through >= 0);
UPDATE totals SET pending_through = last_slot;
