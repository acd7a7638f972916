-- Fields without a column of their own, by name: a new field needs no migration.
ALTER TABLE agent_personas ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_parts ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_traits ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_skills ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_guardrails ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE character_arcs ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_tool_presets ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_bias_profiles ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_context_presets ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_test_inputs ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
