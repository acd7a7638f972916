-- Tests of personas: replies and verdicts by the hash of everything that they depend on, and the last runs.
-- Times are milliseconds since 1970, by the clock of the database.
CREATE TABLE masque_tests (
    key text PRIMARY KEY,
    kind text NOT NULL,
    persona text NOT NULL,
    subject text NOT NULL,
    value text NOT NULL,
    kept_at bigint NOT NULL
);

CREATE INDEX masque_tests_kept_at ON masque_tests (kind, kept_at);
