-- Who gave a revision its name, and why; unknown of those that were given earlier.
ALTER TABLE agent_revision_tags ADD COLUMN author TEXT;
ALTER TABLE agent_revision_tags ADD COLUMN front TEXT;
ALTER TABLE agent_revision_tags ADD COLUMN message TEXT;
