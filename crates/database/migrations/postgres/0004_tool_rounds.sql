-- How many replies of one run may call tools; empty: a base may say, else the settings.
ALTER TABLE agent_personas ADD COLUMN max_tool_rounds bigint;
