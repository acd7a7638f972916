//! Leases: claims of nodes, their renewal, and sightings of the leases of others.
//!
//! Every claim and every renewal counts `lease_beat` up. PostgreSQL also stores the end of a lease and
//! compares it, both by its own clock; the end counts once the connections of the holder's process are gone,
//! because that clock may be set while sessions run. No clock of a node takes part.

use agent::{Mode, SessionStatus, Sighting, limits};
use serde::Deserialize;
use uuid::Uuid;

use crate::{BuiltStatement, Result, Sessions, Statement};
use database::{Dialect, Engine, Parameter, connections_named};

/// A request to run a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The holder of the lease: a name that no other run has.
    pub holder: String,
    /// The beat of another holder's lease that is over, as observed.
    pub over: Option<i64>,
}

/// The state of a session, and its lease as an observer reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenSession {
    pub session: Uuid,
    pub status: SessionStatus,
    pub lease: Sighting,
}

/// Requests to a session that this node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Control {
    pub session: Uuid,
    pub mode: Mode,
    pub cancel_requested: bool,
}

/// A row as [`SeenSession`] is made of it.
#[derive(Debug, Deserialize)]
struct SeenRow {
    session: Uuid,
    status: SessionStatus,
    holder: Option<String>,
    beat: i64,
    is_over: bool,
}

/// A flag that is stored as a number, in JSON.
pub(super) fn flag(dialect: Dialect, column: &str) -> String {
    truth(dialect, &format!("{column} <> 0"))
}

/// A condition in JSON.
fn truth(dialect: Dialect, condition: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("json(iif({condition}, 'true', 'false'))"),
        Dialect::Postgres => condition.to_owned(),
    }
}

/// True if a lease is over as far as the database knows. A session that runs without a holder was released.
pub(super) fn is_over(dialect: Dialect) -> String {
    let is_over = match dialect {
        Dialect::Sqlite => "lease_node IS NULL".to_owned(),
        Dialect::Postgres => {
            let is_connected = connections_named(&format!("split_part(lease_node, '.', {CONNECTIONS_PART})"));
            format!(
                "lease_node IS NULL OR lease_until IS NULL \
                 OR lease_until <= clock_timestamp() AND NOT {is_connected}"
            )
        }
    };
    truth(dialect, &format!("status = 'running' AND ({is_over})"))
}

/// Assignments that renew a lease.
pub(super) fn renewed(dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => "lease_beat = lease_beat + 1".to_owned(),
        Dialect::Postgres => {
            let lease_ms = limits::LEASE.as_millis();
            format!(
                "lease_beat = lease_beat + 1, \
                 lease_until = clock_timestamp() + interval '{lease_ms} milliseconds'"
            )
        }
    }
}

static RENEW: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let control = dialect.text(&dialect.object(&[
            ("session", "id".to_owned()),
            ("mode", "mode".to_owned()),
            ("cancel_requested", flag(dialect, "cancel_requested")),
        ]));
        let holders = dialect.in_list("lease_node", "$2");
        format!(
            "UPDATE sessions SET {} WHERE id IN ({}) AND {holders} AND status = 'running' \
             RETURNING {control}",
            renewed(dialect),
            listed(dialect, 1)
        )
    })
});

static SEEN: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let seen = dialect.text(&dialect.object(&[
            ("session", "id".to_owned()),
            ("status", "status".to_owned()),
            ("holder", "lease_node".to_owned()),
            ("beat", "lease_beat".to_owned()),
            ("is_over", is_over(dialect)),
        ]));
        format!("SELECT {seen} FROM sessions WHERE id IN ({}) ORDER BY id", listed(dialect, 1))
    })
});

/// The ids of a JSON list at this place.
fn listed(dialect: Dialect, at: usize) -> String {
    match dialect {
        Dialect::Sqlite => format!("SELECT value FROM json_each(${at})"),
        Dialect::Postgres => format!("SELECT value::uuid FROM jsonb_array_elements_text(${at}::jsonb)"),
    }
}

/// The place of the connections' id in the name of a claim.
const CONNECTIONS_PART: usize = 3;

impl Sessions {
    /// The name of a claim: its node, a number, and on PostgreSQL the id of the connections.
    pub fn holder(&self, node: Uuid, number: u64) -> String {
        match self.engine() {
            Engine::Sqlite(_) => format!("{node}.{number}"),
            Engine::Postgres(postgres) => format!("{node}.{number}.{}", postgres.connections),
        }
    }

    /// Renews the leases of the sessions that a node runs, each under its holder's name, and returns the
    /// requests to them. A session that is not among them was lost.
    pub async fn renew_leases(&self, held: &[(Uuid, String)]) -> Result<Vec<Control>> {
        let (ids, holders): (Vec<&Uuid>, Vec<&str>) =
            held.iter().map(|(id, holder)| (id, holder.as_str())).unzip();
        let values = [
            Parameter::Json(serde_json::to_string(&ids)?),
            Parameter::Json(serde_json::to_string(&holders)?),
        ];
        let mut work = crate::Work::begin(self).await?;
        let rows = work.texts(&RENEW, &values).await?;
        work.commit().await?;
        Ok(rows.iter().map(|row| serde_json::from_str(row)).collect::<std::result::Result<_, _>>()?)
    }

    /// The states and leases of sessions. A session that does not exist is left out.
    pub async fn see(&self, sessions: &[Uuid]) -> Result<Vec<SeenSession>> {
        let sessions = Parameter::Json(serde_json::to_string(sessions)?);
        let found = self.session_texts(&SEEN, &[sessions]).await?;
        // A PostgreSQL server ends leases by its own clock, and no writer blocks all others there.
        let is_blocked = match self.engine() {
            Engine::Sqlite(sqlite) => !sqlite.can_write_now(),
            Engine::Postgres(_) => false,
        };
        let seen = found.iter().map(|row| {
            let SeenRow { session, status, holder, beat, is_over } = serde_json::from_str(row)?;
            let is_gone = || status == SessionStatus::Running && holder.is_some_and(|it| self.is_gone(&it));
            let is_over = is_over || is_gone();
            Ok(SeenSession { session, status, lease: Sighting { beat, is_over, is_blocked } })
        });
        seen.collect()
    }
}
