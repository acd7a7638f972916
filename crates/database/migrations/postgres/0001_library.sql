-- The library: entities, links, state and history. docs/schema.dbml describes every table.

-- Named, loadable agent configurations.
CREATE TABLE agent_personas (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    display_name text,
    description text,
    summary text NOT NULL DEFAULT '',
    detail text,
    extends text,
    system_prompt text,
    system_prompt_mode text NOT NULL DEFAULT 'replace',
    preferred_models jsonb NOT NULL DEFAULT '[]',
    tool_preset text,
    bias_profile text,
    context_preset text,
    aggregation_strategy text NOT NULL DEFAULT 'auto',
    plan_persona jsonb,
    parts_mode text NOT NULL DEFAULT 'replace',
    removals jsonb NOT NULL DEFAULT '{}',
    compiled_summary text,
    compiled_detail text,
    compiled_at timestamptz,
    compiled_fingerprint text,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Reusable building blocks of behaviour.
CREATE TABLE agent_parts (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    part_type text NOT NULL,
    description text,
    summary text NOT NULL DEFAULT '',
    content text,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Atomic units of personality.
CREATE TABLE agent_traits (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    trait_type text NOT NULL,
    description text,
    instruction text,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- What a persona knows how to do; content is loaded on demand.
CREATE TABLE agent_skills (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    content text,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- What a persona must not do.
CREATE TABLE agent_guardrails (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    severity text NOT NULL DEFAULT 'medium',
    description text,
    content text,
    deny_tools jsonb NOT NULL DEFAULT '[]',
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Named progressions.
CREATE TABLE character_arcs (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    summary text NOT NULL DEFAULT '',
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Ordered stages of an arc.
CREATE TABLE arc_stages (
    id bigserial PRIMARY KEY,
    arc_id bigint NOT NULL REFERENCES character_arcs (id) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    stage_order integer NOT NULL DEFAULT 0,
    description text,
    condition text,
    created_at timestamptz NOT NULL,
    UNIQUE (arc_id, name)
);

-- Parts that are active in a stage.
CREATE TABLE arc_stage_parts (
    stage_id bigint NOT NULL REFERENCES arc_stages (id) ON DELETE CASCADE,
    part_id bigint NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order integer NOT NULL DEFAULT 0,
    PRIMARY KEY (stage_id, part_id)
);

-- Parts of a persona: order of assembly, priority when trimming.
CREATE TABLE agent_persona_parts (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    part_id bigint NOT NULL REFERENCES agent_parts (id) ON DELETE RESTRICT,
    part_order integer NOT NULL DEFAULT 0,
    priority integer NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, part_id)
);

-- Traits of a persona, in the order of the author.
CREATE TABLE agent_persona_traits (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    trait_id bigint NOT NULL REFERENCES agent_traits (id) ON DELETE RESTRICT,
    link_order integer NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, trait_id)
);

-- Skills of a persona, in the order of the author.
CREATE TABLE agent_persona_skills (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    skill_id bigint NOT NULL REFERENCES agent_skills (id) ON DELETE RESTRICT,
    link_order integer NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, skill_id)
);

-- Guardrails of a persona, in the order of the author.
CREATE TABLE agent_persona_guardrails (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    guardrail_id bigint NOT NULL REFERENCES agent_guardrails (id) ON DELETE RESTRICT,
    link_order integer NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, guardrail_id)
);

-- The arc of a persona and, as state, its current stage.
CREATE TABLE persona_arc (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    arc_id bigint NOT NULL REFERENCES character_arcs (id) ON DELETE RESTRICT,
    current_stage_id bigint REFERENCES arc_stages (id) ON DELETE SET NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (persona_id)
);

-- Which tools a persona may use, and how.
CREATE TABLE agent_tool_presets (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    categories jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Multipliers per tool category.
CREATE TABLE agent_bias_profiles (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    multipliers jsonb NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Which files reach the prompt, in which view.
CREATE TABLE agent_context_presets (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    entries jsonb NOT NULL DEFAULT '[]',
    token_budget bigint,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Inputs to try a persona with.
CREATE TABLE agent_test_inputs (
    id bigserial PRIMARY KEY,
    guid uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
    name text COLLATE "C" NOT NULL UNIQUE,
    description text,
    content text,
    expectations jsonb,
    tags text[] NOT NULL DEFAULT '{}',
    revision bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Test inputs of a persona.
CREATE TABLE agent_persona_test_inputs (
    persona_id bigint NOT NULL REFERENCES agent_personas (id) ON DELETE CASCADE,
    test_input_id bigint NOT NULL REFERENCES agent_test_inputs (id) ON DELETE RESTRICT,
    link_order integer NOT NULL DEFAULT 0,
    PRIMARY KEY (persona_id, test_input_id)
);

-- State of personas that are not kept in this database: builtins, and those in files.
CREATE TABLE persona_state (
    scope text NOT NULL,
    origin text NOT NULL DEFAULT '',
    name text NOT NULL,
    arc text,
    stage text,
    compiled_summary text,
    compiled_detail text,
    compiled_at timestamptz,
    compiled_fingerprint text,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (scope, origin, name)
);

-- Every change: the whole entity, and the revisions of all that it refers to.
CREATE TABLE agent_revisions (
    id bigserial PRIMARY KEY,
    scope text NOT NULL DEFAULT 'shared',
    origin text NOT NULL DEFAULT '',
    kind text NOT NULL,
    guid uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    action text NOT NULL,
    author text NOT NULL,
    front text NOT NULL,
    message text,
    entity jsonb NOT NULL,
    refs jsonb NOT NULL DEFAULT '[]',
    content_hash text,
    created_at timestamptz NOT NULL,
    UNIQUE (guid, revision)
);

-- Names of revisions that callers can ask for.
CREATE TABLE agent_revision_tags (
    guid uuid NOT NULL,
    tag text NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (guid, tag)
);

-- When a persona was last asked for.
CREATE TABLE agent_persona_usage (
    name text COLLATE "C" NOT NULL,
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (name)
);

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

-- Tags are looked up by containment.
CREATE INDEX agent_personas_tags ON agent_personas USING gin (tags);
CREATE INDEX agent_parts_tags ON agent_parts USING gin (tags);
CREATE INDEX agent_traits_tags ON agent_traits USING gin (tags);
CREATE INDEX agent_skills_tags ON agent_skills USING gin (tags);
CREATE INDEX agent_guardrails_tags ON agent_guardrails USING gin (tags);
CREATE INDEX character_arcs_tags ON character_arcs USING gin (tags);
CREATE INDEX agent_tool_presets_tags ON agent_tool_presets USING gin (tags);
CREATE INDEX agent_bias_profiles_tags ON agent_bias_profiles USING gin (tags);
CREATE INDEX agent_context_presets_tags ON agent_context_presets USING gin (tags);
CREATE INDEX agent_test_inputs_tags ON agent_test_inputs USING gin (tags);

-- Words are split by Masque, the same way for both engines; the vector holds them as they are.
CREATE TABLE library_search (
    kind smallint NOT NULL,
    entity_id bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (kind, entity_id)
);
CREATE INDEX library_search_words ON library_search USING gin (words);
