-- No id is given again, also when the row with the highest has gone: of each table the last one given, kept by the
-- transaction that gives it (src/store/sqlite/last_ids.hpp). They stand beside the totals, whose page each commit writes.
ALTER TABLE totals ADD COLUMN last_account INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_series INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_counter INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_device INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_webhook INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_delivery INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_action INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_effect INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_sealed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_history INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_task INTEGER NOT NULL DEFAULT 0;
ALTER TABLE totals ADD COLUMN last_version INTEGER NOT NULL DEFAULT 0;

-- The highest seen anywhere: the audit log outlives the accounts and tokens that it names.
UPDATE totals SET
    last_account = max(coalesce((SELECT max(account_id) FROM accounts), 0),
                       coalesce((SELECT max(account_id) FROM admin_actions), 0),
                       coalesce((SELECT max(actor_account_id) FROM admin_actions), 0)),
    last_series = coalesce((SELECT max(series_id) FROM series), 0),
    last_counter = coalesce((SELECT max(counter_id) FROM counters), 0),
    last_token = max(coalesce((SELECT max(token_id) FROM tokens), 0),
                     coalesce((SELECT max(token_id) FROM admin_actions), 0)),
    last_device = coalesce((SELECT max(device_id) FROM devices), 0),
    last_webhook = coalesce((SELECT max(webhook_id) FROM webhooks), 0),
    last_delivery = coalesce((SELECT max(delivery_id) FROM webhook_deliveries), 0),
    last_action = coalesce((SELECT max(action_id) FROM admin_actions), 0),
    last_effect = max(coalesce((SELECT max(effect_id) FROM outbox), 0),
                      coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'outbox'), 0)),
    last_sealed = coalesce((SELECT max(sealed_id) FROM sealed_versions), 0),
    last_history = coalesce((SELECT max(history_id) FROM task_history), 0),
    last_task = max(coalesce((SELECT max(task_id) FROM tasks), 0), numbers_through),
    last_version = max(coalesce((SELECT max(version_row) FROM versions), 0), places_through);
