//! Claims: which process works a ticket, and the fences that stop the late writes of all others.
//!
//! Every claim counts `token` and `beat` up, every renewal `beat`. PostgreSQL also stores the end of a lease
//! and compares it, both by its own clock; the end counts once the connections of the process are gone,
//! because that clock may be set meanwhile. No clock of a process takes part.

use chrono::{DateTime, Utc};
use conductor::TicketId;
use database::{BuiltStatement, Column, Dialect, Engine, Parameter, Statement, connections_named, now};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::work::locked;
use crate::{LEASE, Result, Tracks, Work};

/// The right to write for a ticket, or for the track itself, until the claim ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    pub track: Uuid,
    /// `None` for the steps of the track itself.
    pub ticket: Option<TicketId>,
    /// Counts up with each claim.
    pub token: i64,
}

/// A worker that claims tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The node of the process.
    pub node: Uuid,
    /// For people.
    pub name: String,
}

/// A claim as an observer reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimSighting {
    /// Counts up whenever the claim is taken or renewed. It never repeats.
    pub beat: i64,
    /// The storage knows that the claim is over: it was released, or its process is gone.
    pub is_over: bool,
    /// No process can write at the moment, so the holder cannot renew.
    pub is_blocked: bool,
}

/// The outcome of an attempt to claim a ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    Taken(Fence),
    /// Another worker has it, or the same one has it already.
    Busy(ClaimSighting),
}

/// A ticket that a worker has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub fence: Fence,
    pub holder: Holder,
    pub claimed_at: DateTime<Utc>,
    pub sighting: ClaimSighting,
}

/// A row as [`Claim`] is made of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Seen {
    ticket: String,
    token: i64,
    node: Option<String>,
    holder: Option<String>,
    claimed_at: Option<DateTime<Utc>>,
    beat: i64,
    is_over: bool,
}

/// A condition: the claim `c` is over as far as the database knows.
fn is_over(dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => "c.node IS NULL".to_owned(),
        Dialect::Postgres => {
            let is_connected = connections_named("split_part(c.node, '.', 2)");
            format!(
                "c.node IS NULL OR c.lease_until IS NULL \
                 OR c.lease_until <= clock_timestamp() AND NOT {is_connected}"
            )
        }
    }
}

/// The end of a lease that begins now.
fn lease_end(dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => "NULL".to_owned(),
        Dialect::Postgres => {
            format!("clock_timestamp() + interval '{} milliseconds'", LEASE.as_millis())
        }
    }
}

/// Takes a ticket that no worker has, whose worker is gone, or whose claim has the beat `$6`. One statement:
/// the first of many locks the row, and the others then see that it is taken.
static TAKE: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        format!(
            "INSERT INTO masque_track_claims AS c \
             (track_id, ticket, token, node, holder, beat, lease_until, claimed_at) \
             VALUES ($1, $2, 1, $3, $4, 1, {}, $5) ON CONFLICT (track_id, ticket) DO UPDATE \
             SET token = c.token + 1, node = excluded.node, holder = excluded.holder, beat = c.beat + 1, \
             lease_until = excluded.lease_until, claimed_at = excluded.claimed_at \
             WHERE {} OR c.beat = $6 RETURNING token",
            lease_end(dialect),
            is_over(dialect)
        )
    })
});

/// A claim `c` as [`Seen`] reads it.
fn seen(dialect: Dialect) -> String {
    let is_over = match dialect {
        Dialect::Sqlite => format!("json(iif({}, 'true', 'false'))", is_over(dialect)),
        Dialect::Postgres => is_over(dialect),
    };
    let seen = dialect.object(&[
        ("ticket", "c.ticket".to_owned()),
        ("token", "c.token".to_owned()),
        ("node", "c.node".to_owned()),
        ("holder", "c.holder".to_owned()),
        ("claimed_at", dialect.json_value("c.claimed_at", Column::Time)),
        ("beat", "c.beat".to_owned()),
        ("is_over", is_over),
    ]);
    format!("SELECT {} FROM masque_track_claims c WHERE c.track_id = $1", dialect.text(&seen))
}

static SEEN: BuiltStatement =
    BuiltStatement::new(|| Statement::new(|dialect| format!("{} AND c.ticket = $2", seen(dialect))));

static CLAIMS: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| format!("{} AND c.node IS NOT NULL ORDER BY c.ticket", seen(dialect)))
});

static HOLDS: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        format!(
            "SELECT token FROM masque_track_claims WHERE track_id = $1 AND ticket = $2 AND token = $3 \
             AND node IS NOT NULL{}",
            locked(dialect, "SHARE")
        )
    })
});

/// Renews the claims of a JSON list.
static RENEW: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let fences = match dialect {
            Dialect::Sqlite => {
                "SELECT value ->> '$.track', value ->> '$.ticket', value ->> '$.token' FROM json_each($1)"
            }
            Dialect::Postgres => {
                "SELECT (value ->> 'track')::uuid, value ->> 'ticket', (value ->> 'token')::bigint \
                 FROM jsonb_array_elements($1::jsonb)"
            }
        };
        let renewed = dialect.object(&[
            ("track", "track_id".to_owned()),
            ("ticket", "ticket".to_owned()),
            ("token", "token".to_owned()),
        ]);
        format!(
            "UPDATE masque_track_claims SET beat = beat + 1, lease_until = {} \
             WHERE node IS NOT NULL AND (track_id, ticket, token) IN ({fences}) RETURNING {}",
            lease_end(dialect),
            dialect.text(&renewed)
        )
    })
});

/// A fence in the list of those to renew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Renewed {
    track: Uuid,
    ticket: String,
    token: i64,
}

const RELEASE: &str = "UPDATE masque_track_claims SET node = NULL, holder = NULL, lease_until = NULL \
                       WHERE track_id = $1 AND ticket = $2 AND token = $3 AND node IS NOT NULL";

/// A ticket as the column has it.
pub(crate) fn ticket_word(ticket: Option<&TicketId>) -> &str {
    ticket.map_or("", TicketId::as_str)
}

impl Fence {
    /// The values of a statement's `$1`, `$2` and `$3`.
    pub(crate) fn values(&self) -> [Parameter; 3] {
        let ticket = Parameter::from(ticket_word(self.ticket.as_ref()));
        [Parameter::Uuid(self.track), ticket, Parameter::Int(self.token)]
    }
}

impl Work {
    /// True if a claim still holds. It then holds until the change ends.
    pub(crate) async fn holds(&mut self, fence: &Fence) -> Result<bool> {
        Ok(self.number(&HOLDS, &fence.values()).await?.is_some())
    }
}

impl Tracks {
    /// Claims a ticket, or the steps of the track itself. One of many wins. A claim whose process is known to
    /// be gone is taken over.
    pub async fn claim(&self, track: Uuid, ticket: Option<&TicketId>, holder: &Holder) -> Result<Claimed> {
        self.take(track, ticket, None, holder).await
    }

    /// Claims a ticket whose worker was observed to be gone, unless it renewed after this beat.
    pub async fn take_over(
        &self,
        track: Uuid,
        ticket: Option<&TicketId>,
        beat: i64,
        holder: &Holder,
    ) -> Result<Claimed> {
        self.take(track, ticket, Some(beat), holder).await
    }

    async fn take(
        &self,
        track: Uuid,
        ticket: Option<&TicketId>,
        beat: Option<i64>,
        holder: &Holder,
    ) -> Result<Claimed> {
        let mut values = [
            Parameter::Uuid(track),
            Parameter::from(ticket_word(ticket)),
            Parameter::Text(self.node_word(holder.node)),
            Parameter::from(holder.name.as_str()),
            Parameter::Time(now()),
            Parameter::MaybeInt(beat),
        ];
        // A look locks nothing. A ticket that is held would stay locked if this process stopped in a change.
        if let Some(seen) = self.look(&values[..2]).await?
            && !seen.is_over
            && Some(seen.beat) != beat
        {
            return Ok(Claimed::Busy(seen));
        }
        let mut work = Work::begin(self).await?;
        let mut token = work.number(&TAKE, &values).await.map_err(|error| error.without_track(track))?;
        let mut sighting = ClaimSighting { beat: 0, is_over: true, is_blocked: false };
        if token.is_none() {
            let seen: Option<Seen> = work.row(&SEEN, &values[..2]).await?;
            if let Some(seen) = seen {
                // This change could begin, so others can write.
                sighting = self.sighting(&seen, false);
            }
            if sighting.is_over {
                values[5] = Parameter::Int(sighting.beat);
                token = work.number(&TAKE, &values).await?;
            }
        }
        let Some(token) = token else { return Ok(Claimed::Busy(sighting)) };
        work.commit().await?;
        Ok(Claimed::Taken(Fence { track, ticket: ticket.cloned(), token }))
    }

    /// A claim as it is outside of a change. `None` if the ticket was never claimed.
    async fn look(&self, values: &[Parameter]) -> Result<Option<ClaimSighting>> {
        let seen: Vec<Seen> = self.rows(&SEEN, values).await?;
        let Some(seen) = seen.first() else { return Ok(None) };
        let sighting = self.sighting(seen, false);
        Ok(Some(ClaimSighting { is_blocked: !sighting.is_over && self.is_blocked(), ..sighting }))
    }

    /// True if no process can write at the moment. A PostgreSQL server ends leases by its own clock, and no
    /// writer blocks all others there.
    fn is_blocked(&self) -> bool {
        match self.engine() {
            Engine::Sqlite(sqlite) => !sqlite.can_write_now(),
            Engine::Postgres(_) => false,
        }
    }

    /// Renews claims, all at once, and returns for each of them whether it still holds.
    pub async fn renew(&self, fences: &[Fence]) -> Result<Vec<bool>> {
        let listed: Vec<Renewed> = fences
            .iter()
            .map(|fence| {
                let ticket = ticket_word(fence.ticket.as_ref()).to_owned();
                Renewed { track: fence.track, ticket, token: fence.token }
            })
            .collect();
        let mut work = Work::begin(self).await?;
        let renewed: Vec<Renewed> =
            work.rows(&RENEW, &[Parameter::Json(serde_json::to_string(&listed)?)]).await?;
        work.commit().await?;
        Ok(listed.iter().map(|fence| renewed.contains(fence)).collect())
    }

    /// Ends a claim. False if it did not hold any more.
    pub async fn release(&self, fence: &Fence) -> Result<bool> {
        let mut work = Work::begin(self).await?;
        let released = work.run(RELEASE, &fence.values()).await? > 0;
        if released {
            work.announce(self, fence.track).await?;
        }
        work.commit().await?;
        Ok(released)
    }

    /// The claims of a track, in the order of their tickets.
    pub async fn claims(&self, track: Uuid) -> Result<Vec<Claim>> {
        let found: Vec<Seen> = self.rows(&CLAIMS, &[Parameter::Uuid(track)]).await?;
        let is_blocked = !found.is_empty() && self.is_blocked();
        Ok(found.into_iter().filter_map(|seen| self.read_claim(track, seen, is_blocked)).collect())
    }

    /// The same inside of a change.
    pub(crate) async fn seen_claims(&self, work: &mut Work, track: Uuid) -> Result<Vec<Claim>> {
        let found: Vec<Seen> = work.rows(&CLAIMS, &[Parameter::Uuid(track)]).await?;
        Ok(found.into_iter().filter_map(|seen| self.read_claim(track, seen, false)).collect())
    }

    fn sighting(&self, seen: &Seen, is_blocked: bool) -> ClaimSighting {
        let is_gone = || seen.node.as_deref().and_then(node_of).is_some_and(|node| self.is_gone(node));
        ClaimSighting { beat: seen.beat, is_over: seen.is_over || is_gone(), is_blocked }
    }

    /// `None` for a row that this version does not write.
    fn read_claim(&self, track: Uuid, seen: Seen, is_blocked: bool) -> Option<Claim> {
        let sighting = self.sighting(&seen, is_blocked);
        let ticket = Some(seen.ticket.as_str()).filter(|ticket| !ticket.is_empty());
        let ticket = ticket.map(TicketId::parse).transpose().ok()?;
        let holder = Holder { node: node_of(&seen.node?)?, name: seen.holder? };
        let fence = Fence { track, ticket, token: seen.token };
        Some(Claim { fence, holder, claimed_at: seen.claimed_at?, sighting })
    }

    /// A node as the column has it: on PostgreSQL with the id of the connections.
    fn node_word(&self, node: Uuid) -> String {
        match self.engine() {
            Engine::Sqlite(_) => node.to_string(),
            Engine::Postgres(postgres) => format!("{node}.{}", postgres.connections),
        }
    }
}

fn node_of(word: &str) -> Option<Uuid> {
    word.split('.').next().and_then(|node| Uuid::parse_str(node).ok())
}
