-- What was last seen in personas.toml files, so that an edit made by hand is recorded once.

-- The newest revision of each entry of a file.
CREATE TABLE file_entries (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    guid TEXT NOT NULL,
    revision INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin, kind, name)
) STRICT, WITHOUT ROWID;

-- The text of each file that file_entries describes.
CREATE TABLE file_origins (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin)
) STRICT, WITHOUT ROWID;

-- An empty strategy is not set: a base may set it.
UPDATE agent_personas SET aggregation_strategy = '' WHERE aggregation_strategy = 'auto';

CREATE INDEX agent_personas_extends ON agent_personas (extends) WHERE extends IS NOT NULL;
