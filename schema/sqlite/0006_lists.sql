-- Lists of tasks, and who made what.

-- over: completed, deleted or purged. An account has many such tasks and few others, which lists are mostly about.
-- task_is_over() is the store's, from the attributes.
ALTER TABLE tasks ADD COLUMN over INTEGER NOT NULL DEFAULT 0 CHECK (over IN (0, 1));
UPDATE tasks SET over = 1 WHERE purged OR task_is_over(attributes);

-- One index for both, each by itself in order: a second one, of the open tasks alone, would cost a creation a page
-- more for each series of a commit (0.91 of the rate with 1000 series). It keeps numbers of one kind from being given
-- twice; for both, a counter is looked at against them before its first number is taken.
DROP INDEX tasks_by_number;
CREATE UNIQUE INDEX tasks_by_number ON tasks (counter_id, over, number) WHERE number IS NOT NULL;

-- A token's id, or with a minus before it a device's. NULL: the server itself, or nobody that is known any more.
ALTER TABLE tasks ADD COLUMN author INTEGER;
ALTER TABLE versions ADD COLUMN author INTEGER;
