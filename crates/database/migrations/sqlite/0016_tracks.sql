-- Tracks: tickets that workers take on, and what happened to them.

-- The definition as JSON, and the end of the log; whoever appends holds the row.
CREATE TABLE masque_tracks (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    project TEXT NOT NULL,
    definition TEXT NOT NULL,
    status TEXT NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

CREATE INDEX masque_tracks_updated_at ON masque_tracks (updated_at, id);

-- The log, which is the state. It only grows.
CREATE TABLE masque_track_events (
    track_id TEXT NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (track_id, seq)
) STRICT;

-- Who works a ticket. A row stays when its claim ends, so that its token never counts from the start.
-- The steps of the track itself have the ticket ''.
CREATE TABLE masque_track_claims (
    track_id TEXT NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    ticket TEXT NOT NULL,
    token INTEGER NOT NULL DEFAULT 0,
    node TEXT,
    holder TEXT,
    beat INTEGER NOT NULL DEFAULT 0,
    lease_until TEXT,
    claimed_at TEXT,
    PRIMARY KEY (track_id, ticket)
) STRICT;

-- Calls of models: what each may cost at worst, and after it what it cost.
CREATE TABLE masque_track_costs (
    id TEXT NOT NULL PRIMARY KEY,
    track_id TEXT NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    ticket TEXT NOT NULL,
    day TEXT NOT NULL,
    token INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_micros INTEGER,
    state TEXT NOT NULL,
    created_at TEXT NOT NULL,
    settled_at TEXT
) STRICT;

CREATE INDEX masque_track_costs_ticket ON masque_track_costs (track_id, ticket);

-- The sums of those rows, kept with them: of the track, of each ticket and of each day.
CREATE TABLE masque_track_accounts (
    track_id TEXT NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    account TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    unpriced_tokens INTEGER NOT NULL,
    PRIMARY KEY (track_id, account)
) STRICT;

-- The part of the work on a track that a session does, as JSON.
ALTER TABLE sessions ADD COLUMN duty TEXT;
