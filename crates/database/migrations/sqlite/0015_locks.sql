-- Locks against the editing agent: of a whole entity, whose field is empty, or of one field.
CREATE TABLE agent_locks (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    field TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (scope, origin, kind, name, field)
) STRICT;
