-- Sessions: what a persona was told, what it said and did, and who has to permit what.

-- A persona, a mode, a root directory; the row is the lock of everything below it.
CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    persona text COLLATE "C" NOT NULL,
    persona_scope text,
    mode text NOT NULL,
    status text NOT NULL,
    model text,
    overrides jsonb NOT NULL DEFAULT '{}',
    root text,
    parent_id uuid REFERENCES sessions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    parent_call text,
    depth integer NOT NULL DEFAULT 0,
    title text,
    answered_by text,
    answered_since timestamptz,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cache_read_tokens bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    last_seq bigint NOT NULL DEFAULT 0,
    lease_node text,
    lease_until timestamptz,
    cancel_requested integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Turns, and what happened that is no turn.
CREATE TABLE session_log (
    session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    provider_state text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- Calls that wait for, or got, somebody's permission.
CREATE TABLE session_approvals (
    session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    call_id text NOT NULL,
    tool_name text NOT NULL,
    input text NOT NULL,
    asked_at timestamptz NOT NULL,
    answer text,
    PRIMARY KEY (session_id, seq)
);

-- Apart from sessions: a plan is long, and that row is written with every entry of the log.
CREATE TABLE session_plans (
    session_id uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    content text NOT NULL,
    status text NOT NULL,
    created_at timestamptz NOT NULL
);

CREATE INDEX sessions_parent_id ON sessions (parent_id, updated_at, id);
CREATE INDEX sessions_lease_until ON sessions (lease_until) WHERE lease_until IS NOT NULL;
