-- A tag may name a revision of an earlier entity of the same name.
CREATE TABLE tags_of_earlier (
    guid TEXT NOT NULL,
    tag TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    author TEXT,
    front TEXT,
    message TEXT,
    revision_guid TEXT NOT NULL,
    PRIMARY KEY (guid, tag)
) STRICT, WITHOUT ROWID;
INSERT INTO tags_of_earlier
    SELECT guid, tag, revision, created_at, author, front, message, guid FROM agent_revision_tags;
DROP TABLE agent_revision_tags;
ALTER TABLE tags_of_earlier RENAME TO agent_revision_tags;
CREATE INDEX agent_revision_tags_revision ON agent_revision_tags (revision_guid, revision);
