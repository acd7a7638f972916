-- Locks against the editing agent: of a whole entity, whose field is empty, or of one field.
CREATE TABLE agent_locks (
    scope text NOT NULL,
    origin text NOT NULL DEFAULT '',
    kind text NOT NULL,
    name text NOT NULL,
    field text NOT NULL DEFAULT '',
    PRIMARY KEY (scope, origin, kind, name, field)
);
