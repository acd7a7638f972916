-- The library: entities, links, state and history. docs/schema.dbml describes every table.

-- Named, loadable agent configurations.
CREATE TABLE agent_personas (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    display_name TEXT,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    detail TEXT,
    extends TEXT,
    system_prompt TEXT,
    system_prompt_mode TEXT NOT NULL DEFAULT 'replace',
    preferred_models TEXT NOT NULL DEFAULT '[]',
    tool_preset TEXT,
    bias_profile TEXT,
    context_preset TEXT,
    aggregation_strategy TEXT NOT NULL DEFAULT 'auto',
    plan_persona TEXT,
    parts_mode TEXT NOT NULL DEFAULT 'replace',
    removals TEXT NOT NULL DEFAULT '{}',
    compiled_summary TEXT,
    compiled_detail TEXT,
    compiled_at TEXT,
    compiled_fingerprint TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Reusable building blocks of behaviour.
CREATE TABLE agent_parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    part_type TEXT NOT NULL,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    content TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Atomic units of personality.
CREATE TABLE agent_traits (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    trait_type TEXT NOT NULL,
    description TEXT,
    instruction TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- What a persona knows how to do; content is loaded on demand.
CREATE TABLE agent_skills (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    content TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- What a persona must not do.
CREATE TABLE agent_guardrails (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    severity TEXT NOT NULL DEFAULT 'medium',
    description TEXT,
    content TEXT,
    deny_tools TEXT NOT NULL DEFAULT '[]',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Named progressions.
CREATE TABLE character_arcs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    summary TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Ordered stages of an arc.
CREATE TABLE arc_stages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    arc_id INTEGER NOT NULL REFERENCES character_arcs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    stage_order INTEGER NOT NULL DEFAULT 0,
    description TEXT,
    condition TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (arc_id, name)
) STRICT;

-- Parts that are active in a stage.
CREATE TABLE arc_stage_parts (
    stage_id INTEGER NOT NULL REFERENCES arc_stages (id) ON DELETE CASCADE,
    part_id INTEGER NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (stage_id, part_id)
) STRICT, WITHOUT ROWID;

-- Parts of a persona: order of assembly, priority when trimming.
CREATE TABLE agent_persona_parts (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    part_id INTEGER NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, part_id)
) STRICT, WITHOUT ROWID;

-- Traits of a persona, in the order of the author.
CREATE TABLE agent_persona_traits (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    trait_id INTEGER NOT NULL REFERENCES agent_traits (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, trait_id)
) STRICT, WITHOUT ROWID;

-- Skills of a persona, in the order of the author.
CREATE TABLE agent_persona_skills (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    skill_id INTEGER NOT NULL REFERENCES agent_skills (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, skill_id)
) STRICT, WITHOUT ROWID;

-- Guardrails of a persona, in the order of the author.
CREATE TABLE agent_persona_guardrails (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    guardrail_id INTEGER NOT NULL REFERENCES agent_guardrails (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, guardrail_id)
) STRICT, WITHOUT ROWID;

-- The arc of a persona and, as state, its current stage.
CREATE TABLE persona_arc (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    arc_id INTEGER NOT NULL REFERENCES character_arcs (id) ON DELETE RESTRICT,
    current_stage_id INTEGER REFERENCES arc_stages (id) ON DELETE SET NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (persona_id)
) STRICT, WITHOUT ROWID;

-- Which tools a persona may use, and how.
CREATE TABLE agent_tool_presets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    categories TEXT NOT NULL DEFAULT '{}',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Multipliers per tool category.
CREATE TABLE agent_bias_profiles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    multipliers TEXT NOT NULL DEFAULT '{}',
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Which files reach the prompt, in which view.
CREATE TABLE agent_context_presets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    entries TEXT NOT NULL DEFAULT '[]',
    token_budget INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Inputs to try a persona with.
CREATE TABLE agent_test_inputs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    description TEXT,
    content TEXT,
    expectations TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    revision INTEGER NOT NULL DEFAULT 1,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Test inputs of a persona.
CREATE TABLE agent_persona_test_inputs (
    persona_id INTEGER NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    test_input_id INTEGER NOT NULL REFERENCES agent_test_inputs (id) ON DELETE RESTRICT,
    link_order INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, test_input_id)
) STRICT, WITHOUT ROWID;

-- State of personas that are not kept in this database: builtins, and those in files.
CREATE TABLE persona_state (
    scope TEXT NOT NULL,
    origin TEXT NOT NULL DEFAULT '',
    name TEXT NOT NULL,
    arc TEXT,
    stage TEXT,
    compiled_summary TEXT,
    compiled_detail TEXT,
    compiled_at TEXT,
    compiled_fingerprint TEXT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (scope, origin, name)
) STRICT, WITHOUT ROWID;

-- Every change: the whole entity, and the revisions of all that it refers to.
CREATE TABLE agent_revisions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL DEFAULT 'shared',
    origin TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL,
    guid TEXT NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    action TEXT NOT NULL,
    author TEXT NOT NULL,
    front TEXT NOT NULL,
    message TEXT,
    entity TEXT NOT NULL,
    refs TEXT NOT NULL DEFAULT '[]',
    content_hash TEXT,
    created_at TEXT NOT NULL,
    UNIQUE (guid, revision)
) STRICT;

-- Names of revisions that callers can ask for.
CREATE TABLE agent_revision_tags (
    guid TEXT NOT NULL,
    tag TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (guid, tag)
) STRICT, WITHOUT ROWID;

-- When a persona was last asked for.
CREATE TABLE agent_persona_usage (
    name TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- The reverse of each link, for "who uses this", and the orders in which lists are read.
CREATE INDEX agent_parts_part_type ON agent_parts (part_type, name);
CREATE INDEX agent_traits_trait_type ON agent_traits (trait_type, name);
CREATE INDEX arc_stage_parts_part_id ON arc_stage_parts (part_id);
CREATE INDEX agent_persona_parts_part_id ON agent_persona_parts (part_id);
CREATE INDEX agent_persona_traits_trait_id ON agent_persona_traits (trait_id);
CREATE INDEX agent_persona_skills_skill_id ON agent_persona_skills (skill_id);
CREATE INDEX agent_persona_guardrails_guardrail_id ON agent_persona_guardrails (guardrail_id);
CREATE INDEX persona_arc_arc_id ON persona_arc (arc_id);
CREATE INDEX persona_arc_current_stage_id ON persona_arc (current_stage_id);
CREATE INDEX agent_persona_test_inputs_test_input_id ON agent_persona_test_inputs (test_input_id);
CREATE INDEX agent_personas_updated_at ON agent_personas (updated_at);
CREATE INDEX agent_revisions_name ON agent_revisions (scope, origin, kind, name, revision);
CREATE INDEX agent_persona_usage_last_used_at ON agent_persona_usage (last_used_at);

-- SQLite cannot index the elements of an array: this table does, kept true by triggers.
CREATE TABLE agent_tags (
    kind TEXT NOT NULL,
    tag TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (kind, tag, entity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_tags_entity_id ON agent_tags (kind, entity_id);
CREATE TRIGGER agent_personas_tags_insert AFTER INSERT ON agent_personas WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_personas', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_personas_tags_update AFTER UPDATE OF tags ON agent_personas WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_personas' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_personas', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_personas_tags_delete AFTER DELETE ON agent_personas WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_personas' AND entity_id = old.id;
END;
CREATE TRIGGER agent_parts_tags_insert AFTER INSERT ON agent_parts WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_parts', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_parts_tags_update AFTER UPDATE OF tags ON agent_parts WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_parts' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_parts', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_parts_tags_delete AFTER DELETE ON agent_parts WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_parts' AND entity_id = old.id;
END;
CREATE TRIGGER agent_traits_tags_insert AFTER INSERT ON agent_traits WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_traits', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_traits_tags_update AFTER UPDATE OF tags ON agent_traits WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_traits' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_traits', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_traits_tags_delete AFTER DELETE ON agent_traits WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_traits' AND entity_id = old.id;
END;
CREATE TRIGGER agent_skills_tags_insert AFTER INSERT ON agent_skills WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_skills', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_skills_tags_update AFTER UPDATE OF tags ON agent_skills WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_skills' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_skills', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_skills_tags_delete AFTER DELETE ON agent_skills WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_skills' AND entity_id = old.id;
END;
CREATE TRIGGER agent_guardrails_tags_insert AFTER INSERT ON agent_guardrails WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_guardrails', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_guardrails_tags_update AFTER UPDATE OF tags ON agent_guardrails WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_guardrails' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_guardrails', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_guardrails_tags_delete AFTER DELETE ON agent_guardrails WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_guardrails' AND entity_id = old.id;
END;
CREATE TRIGGER character_arcs_tags_insert AFTER INSERT ON character_arcs WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'character_arcs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER character_arcs_tags_update AFTER UPDATE OF tags ON character_arcs WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'character_arcs' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'character_arcs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER character_arcs_tags_delete AFTER DELETE ON character_arcs WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'character_arcs' AND entity_id = old.id;
END;
CREATE TRIGGER agent_tool_presets_tags_insert AFTER INSERT ON agent_tool_presets WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_tool_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_tool_presets_tags_update AFTER UPDATE OF tags ON agent_tool_presets WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_tool_presets' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_tool_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_tool_presets_tags_delete AFTER DELETE ON agent_tool_presets WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_tool_presets' AND entity_id = old.id;
END;
CREATE TRIGGER agent_bias_profiles_tags_insert AFTER INSERT ON agent_bias_profiles WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_bias_profiles', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_bias_profiles_tags_update AFTER UPDATE OF tags ON agent_bias_profiles WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_bias_profiles' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_bias_profiles', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_bias_profiles_tags_delete AFTER DELETE ON agent_bias_profiles WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_bias_profiles' AND entity_id = old.id;
END;
CREATE TRIGGER agent_context_presets_tags_insert AFTER INSERT ON agent_context_presets WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_context_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_context_presets_tags_update AFTER UPDATE OF tags ON agent_context_presets WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_context_presets' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_context_presets', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_context_presets_tags_delete AFTER DELETE ON agent_context_presets WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_context_presets' AND entity_id = old.id;
END;
CREATE TRIGGER agent_test_inputs_tags_insert AFTER INSERT ON agent_test_inputs WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_test_inputs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_test_inputs_tags_update AFTER UPDATE OF tags ON agent_test_inputs WHEN new.tags <> old.tags BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_test_inputs' AND entity_id = old.id;
    INSERT OR IGNORE INTO agent_tags SELECT 'agent_test_inputs', value, new.id FROM json_each(new.tags);
END;
CREATE TRIGGER agent_test_inputs_tags_delete AFTER DELETE ON agent_test_inputs WHEN old.tags <> '[]' BEGIN
    DELETE FROM agent_tags WHERE kind = 'agent_test_inputs' AND entity_id = old.id;
END;

-- Words are split by Masque, the same way for both engines, so the tokenizer only cuts at blanks.
-- A row's id is the entity's id times 16 plus its kind.
CREATE VIRTUAL TABLE library_search USING fts5 (name, words, content = '', contentless_delete = 1, tokenize = 'ascii');
