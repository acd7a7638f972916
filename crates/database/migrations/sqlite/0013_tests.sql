-- Tests of personas: replies and verdicts by the hash of everything that they depend on, and the last runs.
-- Times are milliseconds since 1970, by the clock of the database.
CREATE TABLE masque_tests (
    key TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    persona TEXT NOT NULL,
    subject TEXT NOT NULL,
    value TEXT NOT NULL,
    kept_at INTEGER NOT NULL
) STRICT;

CREATE INDEX masque_tests_kept_at ON masque_tests (kind, kept_at);
