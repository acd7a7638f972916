-- Requests that carry an Idempotency-Key, and their answers: a client that lost the answer asks again.
-- Times are milliseconds since 1970, by the clock of the database.
CREATE TABLE masque_requests (
    key text PRIMARY KEY,
    fingerprint text NOT NULL,
    claim uuid NOT NULL,
    claimed_until bigint NOT NULL,
    status bigint,
    headers jsonb,
    body text,
    expires_at bigint NOT NULL
);

CREATE INDEX masque_requests_expires_at ON masque_requests (expires_at);
