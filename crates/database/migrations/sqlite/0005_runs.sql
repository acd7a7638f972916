-- How many replies of the run that was begun last may call tools, where its caller said so: it still
-- holds when the run goes on after it waited.
ALTER TABLE sessions ADD COLUMN max_tool_rounds INTEGER;

-- Leases are asked for by session: an index of them was written with the begin and the end of every
-- run, and is read by nobody any more.
DROP INDEX sessions_lease_until;
