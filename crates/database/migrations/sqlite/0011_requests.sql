-- Requests that carry an Idempotency-Key, and their answers: a client that lost the answer asks again.
-- Times are milliseconds since 1970, by the clock of the database.
CREATE TABLE masque_requests (
    key TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    claim TEXT NOT NULL,
    claimed_until INTEGER NOT NULL,
    status INTEGER,
    headers TEXT,
    body TEXT,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX masque_requests_expires_at ON masque_requests (expires_at);
