-- Sessions: what a persona was told, what it said and did, and who has to permit what.

-- A persona, a mode, a root directory; the row is the lock of everything below it.
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    persona TEXT NOT NULL,
    persona_scope TEXT,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    model TEXT,
    overrides TEXT NOT NULL DEFAULT '{}',
    root TEXT,
    parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    parent_call TEXT,
    depth INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    answered_by TEXT,
    answered_since TEXT,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    last_seq INTEGER NOT NULL DEFAULT 0,
    lease_node TEXT,
    lease_until TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- Turns, and what happened that is no turn.
CREATE TABLE session_log (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    provider_state TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT;

-- Calls that wait for, or got, somebody's permission.
CREATE TABLE session_approvals (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    input TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    answer TEXT,
    PRIMARY KEY (session_id, seq)
) STRICT;

-- Apart from sessions: a plan is long, and that row is written with every entry of the log.
CREATE TABLE session_plans (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX sessions_parent_id ON sessions (parent_id, updated_at, id);
CREATE INDEX sessions_lease_until ON sessions (lease_until) WHERE lease_until IS NOT NULL;
