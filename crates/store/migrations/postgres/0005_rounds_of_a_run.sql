-- How many replies of the run that was begun last may call tools, where its caller said so: it still
-- holds when the run goes on after it waited.
ALTER TABLE sessions ADD COLUMN max_tool_rounds bigint;
