-- URLs that an account's changes are posted to, and the last attempts of each.

-- after_seq, after_tasks, mark: everything up to there was delivered. disabled: why (domain/webhook.hpp); NULL: it is not.
CREATE TABLE webhooks (
    webhook_id  INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES accounts,
    uuid        BLOB NOT NULL UNIQUE,
    url         TEXT NOT NULL,
    filter      TEXT NOT NULL,
    secret      BLOB NOT NULL,
    after_seq   INTEGER NOT NULL,
    after_tasks INTEGER NOT NULL,
    mark        TEXT NOT NULL,
    disabled    INTEGER CHECK (disabled BETWEEN 1 AND 6),
    failures    INTEGER NOT NULL,
    edits       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_account ON webhooks (account_id);

CREATE TABLE webhook_deliveries (
    delivery_id INTEGER PRIMARY KEY,
    webhook_id  INTEGER NOT NULL REFERENCES webhooks,
    sent_as     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    changes     INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    error       TEXT NOT NULL,
    delivered   INTEGER NOT NULL,
    took_ms     INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, delivery_id);
