-- Tasks that came while their series was held have no number until it is resumed. numbering: it is resumed, and some of them
-- have none yet.
ALTER TABLE series ADD COLUMN numbering INTEGER NOT NULL DEFAULT 0 CHECK (numbering IN (0, 1));
CREATE INDEX series_numbering ON series (series_id) WHERE numbering = 1;
CREATE INDEX tasks_unnumbered ON tasks (series_id) WHERE number IS NULL;
