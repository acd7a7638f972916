-- Counts up whenever a lease is taken or renewed. Observers compare it with itself, never clocks.
ALTER TABLE sessions ADD COLUMN lease_beat bigint NOT NULL DEFAULT 0;

-- Earlier releases wrote it by the clock of a node, which may be far ahead.
UPDATE sessions SET lease_until = least(lease_until, clock_timestamp() + interval '4 seconds')
    WHERE lease_until IS NOT NULL;
