-- Tokens that hold for a time. NULL: until they are revoked.
ALTER TABLE tokens ADD COLUMN expires_at INTEGER;
