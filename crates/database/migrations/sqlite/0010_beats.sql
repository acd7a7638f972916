-- Counts up whenever a lease is taken or renewed. Observers compare it with itself, never clocks.
ALTER TABLE sessions ADD COLUMN lease_beat INTEGER NOT NULL DEFAULT 0;

-- The end of a lease by the clock of a node. Only PostgreSQL uses it from now on, by its own clock.
UPDATE sessions SET lease_until = NULL WHERE lease_until IS NOT NULL;
