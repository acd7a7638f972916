//! The log of a track.

use std::sync::LazyLock;

use chrono::{DateTime, SubsecRound as _, Utc};
use conductor::{Event, Phase, Recorded};
use database::{BuiltStatement, Parameter, Statement};
use uuid::Uuid;

use crate::write::short_enough;
use crate::{APPENDED, EVENT_BYTES, LOG_PAGE, LOG_PAGE_BYTES, ROWS, int};
use crate::{Error, Fence, Result, Tracks, Work};

/// Events to be appended to a log, all or none.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// The number of the last event that the caller folded.
    pub based_on: u64,
    pub events: &'a [Event],
    pub at: DateTime<Utc>,
    /// The phase of the track after these events.
    pub phase: Phase,
    /// The claim under which the events came about. `None` for what people do.
    pub fence: Option<&'a Fence>,
}

/// The outcome of an append.
#[derive(Debug, Clone, PartialEq)]
pub enum Appended {
    /// The events with their places.
    Stored(Vec<Recorded>),
    /// The log has further events, so the caller has to fold them first. Nothing was stored.
    Behind { last_seq: u64 },
    /// The claim ended, or another process has it. Nothing was stored, and the work goes on without the
    /// caller.
    Fenced,
}

const UPDATE: &str = "UPDATE masque_tracks SET last_seq = $1, status = $2, updated_at = $3 WHERE id = $4";

/// Statements that insert one event, two and so on, built once.
static INSERTS: LazyLock<Vec<String>> = LazyLock::new(|| (1..=ROWS).map(insert_rows).collect());

fn insert_rows(rows: usize) -> String {
    let row = |at: usize| format!("($1, ${}, $2, ${})", 3 + at * 2, 4 + at * 2);
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("INSERT INTO masque_track_events (track_id, seq, at, event) VALUES {}", rows.join(", "))
}

/// Events as [`Recorded`] reads them, as many as the bytes allow, but at least one. An event is JSON already.
static LOG: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let at = dialect.time_text("e.at");
        format!(
            "SELECT '{{\"seq\":' || e.seq || ',\"at\":\"' || {at} || '\",\"event\":' || e.event || '}}' \
             FROM masque_track_events e WHERE e.track_id = $1 AND e.seq > $2 AND e.seq <= \
             (SELECT max(s.seq) FROM (SELECT b.seq, sum(octet_length(b.event)) OVER (ORDER BY b.seq) AS size \
             FROM masque_track_events b WHERE b.track_id = $1 AND b.seq > $2 ORDER BY b.seq LIMIT $3) s \
             WHERE s.size <= $4 OR s.seq - 1 = $2) ORDER BY e.seq"
        )
    })
});

impl Tracks {
    /// Events after a place, in order: at most 1,000, and fewer if they are long. The log ends where there
    /// are none.
    pub async fn log(&self, id: Uuid, after: u64, limit: usize) -> Result<Vec<Recorded>> {
        let values = [
            Parameter::Uuid(id),
            Parameter::Int(int(after)),
            Parameter::Int(int(limit.clamp(1, LOG_PAGE) as u64)),
            Parameter::Int(int(LOG_PAGE_BYTES as u64)),
        ];
        self.rows(&LOG, &values).await
    }

    /// Appends to a log, if it ends where the caller expects and the claim still holds.
    pub async fn append(&self, id: Uuid, append: &Append<'_>) -> Result<Appended> {
        let at = append.at.trunc_subsecs(6);
        let bodies = bodies(append.events)?;
        let mut work = Work::begin(self).await?;
        let last = work.lock(id).await?.ok_or(Error::UnknownTrack { id })?;
        if let Some(fence) = append.fence
            && (fence.track != id || !work.holds(fence).await?)
        {
            return Ok(Appended::Fenced);
        }
        let last_seq = last.cast_unsigned();
        if last_seq != append.based_on {
            return Ok(Appended::Behind { last_seq });
        }
        let end = int(last_seq + bodies.len() as u64);
        let phase = Parameter::from(phase_word(append.phase));
        work.run(UPDATE, &[Parameter::Int(end), phase, Parameter::Time(at), Parameter::Uuid(id)]).await?;
        insert(&mut work, id, last + 1, at, bodies).await?;
        work.announce(self, id).await?;
        work.commit().await?;
        let places = last_seq + 1..;
        let recorded =
            places.zip(append.events).map(|(seq, event)| Recorded { seq, at, event: event.clone() });
        Ok(Appended::Stored(recorded.collect()))
    }
}

fn bodies(events: &[Event]) -> Result<Vec<String>> {
    if events.len() > APPENDED {
        return Err(Error::TooManyEvents { most: APPENDED, count: events.len() });
    }
    let body = |event| {
        let body = serde_json::to_string(event)?;
        short_enough("event", &body, EVENT_BYTES)?;
        Ok(body)
    };
    events.iter().map(body).collect()
}

async fn insert(
    work: &mut Work,
    track: Uuid,
    first: i64,
    at: DateTime<Utc>,
    bodies: Vec<String>,
) -> Result<()> {
    let mut rows = (first..).zip(bodies).peekable();
    while rows.peek().is_some() {
        let mut values = vec![Parameter::Uuid(track), Parameter::Time(at)];
        for (seq, body) in rows.by_ref().take(ROWS) {
            values.extend([Parameter::Int(seq), Parameter::Text(body)]);
        }
        let count = values.len() / 2 - 1;
        work.run(&INSERTS[count - 1], &values).await?;
    }
    Ok(())
}

/// A phase as it is stored, which is how serde writes it.
pub(crate) const fn phase_word(phase: Phase) -> &'static str {
    match phase {
        Phase::New => "new",
        Phase::Running => "running",
        Phase::Waiting => "waiting",
        Phase::Paused => "paused",
        Phase::Finished => "finished",
        Phase::Cancelled => "cancelled",
    }
}
