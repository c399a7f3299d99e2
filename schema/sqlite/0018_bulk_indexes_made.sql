-- All was moved.
DROP TABLE old_versions;
DROP INDEX tasks_by_number;
UPDATE totals SET numbers_through = (SELECT coalesce(max(task_id), 0) FROM tasks),
    places_through = (SELECT coalesce(max(version_row), 0) FROM versions),
    open_tasks = (SELECT count(*) FROM task_numbers WHERE over = 0);
