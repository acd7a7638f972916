-- What was last seen in personas.toml files, so that an edit made by hand is recorded once.

-- The newest revision of each entry of a file.
CREATE TABLE file_entries (
    scope text NOT NULL,
    origin text NOT NULL,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    guid uuid NOT NULL,
    revision bigint NOT NULL,
    content_hash text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (scope, origin, kind, name)
);

-- The text of each file that file_entries describes.
CREATE TABLE file_origins (
    scope text NOT NULL,
    origin text NOT NULL,
    content_hash text NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (scope, origin)
);

-- An empty strategy is not set: a base may set it.
UPDATE agent_personas SET aggregation_strategy = '' WHERE aggregation_strategy = 'auto';

CREATE INDEX agent_personas_extends ON agent_personas (extends) WHERE extends IS NOT NULL;
