-- Accounts that move to another server: their tasks are sent there in the order of keys. moved_*: up to where that
-- server has them, null: not one; and how many.
ALTER TABLE remotes ADD COLUMN moving INTEGER NOT NULL DEFAULT 0 CHECK (moving IN (0, 1));
ALTER TABLE remotes ADD COLUMN moved_series INTEGER;
ALTER TABLE remotes ADD COLUMN moved_period TEXT;
ALTER TABLE remotes ADD COLUMN moved_number INTEGER;
ALTER TABLE remotes ADD COLUMN moved_tasks INTEGER NOT NULL DEFAULT 0 CHECK (moved_tasks >= 0);
