-- Tracks: tickets that workers take on, and what happened to them.

-- The definition as JSON, and the end of the log; whoever appends holds the row.
CREATE TABLE masque_tracks (
    id uuid PRIMARY KEY,
    title text NOT NULL,
    project text NOT NULL,
    definition text NOT NULL,
    status text NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

CREATE INDEX masque_tracks_updated_at ON masque_tracks (updated_at, id);

-- The log, which is the state. It only grows.
CREATE TABLE masque_track_events (
    track_id uuid NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (track_id, seq)
);

-- Who works a ticket. A row stays when its claim ends, so that its token never counts from the start.
-- The steps of the track itself have the ticket ''.
CREATE TABLE masque_track_claims (
    track_id uuid NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    ticket text COLLATE "C" NOT NULL,
    token bigint NOT NULL DEFAULT 0,
    node text,
    holder text,
    beat bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    claimed_at timestamptz,
    PRIMARY KEY (track_id, ticket)
);

-- Calls of models: what each may cost at worst, and after it what it cost.
CREATE TABLE masque_track_costs (
    id uuid PRIMARY KEY,
    track_id uuid NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    ticket text COLLATE "C" NOT NULL,
    day text NOT NULL,
    token bigint NOT NULL,
    tokens bigint NOT NULL,
    cost_micros bigint,
    state text NOT NULL,
    created_at timestamptz NOT NULL,
    settled_at timestamptz
);

CREATE INDEX masque_track_costs_ticket ON masque_track_costs (track_id, ticket);

-- The sums of those rows, kept with them: of the track, of each ticket and of each day.
CREATE TABLE masque_track_accounts (
    track_id uuid NOT NULL REFERENCES masque_tracks (id) ON DELETE CASCADE,
    account text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    cost_micros bigint NOT NULL,
    unpriced_tokens bigint NOT NULL,
    PRIMARY KEY (track_id, account)
);

-- The part of the work on a track that a session does, as JSON.
ALTER TABLE sessions ADD COLUMN duty text;
