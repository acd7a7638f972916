-- A tag may name a revision of an earlier entity of the same name.
ALTER TABLE agent_revision_tags ADD COLUMN revision_guid uuid;
UPDATE agent_revision_tags SET revision_guid = guid;
ALTER TABLE agent_revision_tags ALTER COLUMN revision_guid SET NOT NULL;
CREATE INDEX agent_revision_tags_revision ON agent_revision_tags (revision_guid, revision);
