-- The cost of a session's calls, in billionths, and the number of calls whose cost is unknown.
ALTER TABLE sessions ADD COLUMN cost_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN unpriced_calls INTEGER NOT NULL DEFAULT 0;

-- Earlier calls had no price.
UPDATE sessions SET unpriced_calls =
    (SELECT count(*) FROM session_log l WHERE l.session_id = sessions.id AND l.kind = 'note'
         AND CAST(l.body AS text) LIKE '{"type":"usage"%');
