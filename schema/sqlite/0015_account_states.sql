-- 1 active; 2 disabled: nobody gets in; 3 deleted: nor does anybody, and it can be had back for a while; 4 going: its
-- rows are being removed, and it has no name of its own any more.
ALTER TABLE accounts ADD COLUMN state INTEGER NOT NULL DEFAULT 1 CHECK (state BETWEEN 1 AND 4);
ALTER TABLE accounts ADD COLUMN deleted_at INTEGER;
CREATE INDEX accounts_deleted ON accounts (deleted_at) WHERE deleted_at IS NOT NULL;
