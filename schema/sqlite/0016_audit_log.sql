-- The audit log: who changed what about accounts and the server. Appended with what it tells of; the oldest go.

-- token_id: whose request it was; NULL: the server's own. actor_account_id: whose token; NULL: an operator's.
-- account_id: what it was about; NULL: the server. Names are as they were then, and accounts and tokens may be gone.
CREATE TABLE admin_actions (
    action_id        INTEGER PRIMARY KEY,
    done_at          INTEGER NOT NULL,
    token_id         INTEGER,
    token_name       TEXT NOT NULL,
    actor_account_id INTEGER,
    address          TEXT NOT NULL,
    action           TEXT NOT NULL,
    account_id       INTEGER,
    account_name     TEXT NOT NULL,
    subject          TEXT NOT NULL
) STRICT;
CREATE INDEX admin_actions_by_account ON admin_actions (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX admin_actions_by_actor ON admin_actions (actor_account_id) WHERE actor_account_id IS NOT NULL;
