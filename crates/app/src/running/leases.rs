//! Holding sessions by leases. A lease expires seconds after its process is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::{Entry, Mode, NewTurn, Note, RunOptions, Session, Turn, TurnBody, limits};
use chrono::{DateTime, Utc};
use sessions::{BeginOutcome, Control, Lease, Sessions, Started};
use uuid::Uuid;

use super::live_sessions::LiveSessions;
use super::record::{entry, interrupted_calls, noted};
use crate::{Error, Result, SessionError};

/// How long a session stays with a process that does not renew its lease.
pub(super) const LEASE: Duration = Duration::from_secs(4);
/// How often this process renews its leases.
const HEARTBEAT: Duration = Duration::from_secs(1);
/// Pause before checking again whether the holder of a session still lives. It renews every second.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How often a log that others add to is read again before a message is put behind it.
const READ_AGAIN: usize = 10;

/// This process's leases.
#[derive(Debug)]
pub(super) struct Leases {
    sessions: Sessions,
    /// This process, as the database knows it. A new name each time it starts.
    node: String,
    live: Arc<LiveSessions>,
    /// True while the heartbeat's task runs.
    beats: AtomicBool,
}

/// A message that begins a run.
pub(super) struct NewMessage {
    pub(super) content: String,
    /// Follows the message in the log.
    pub(super) note: Option<Note>,
    pub(super) options: RunOptions,
}

impl Leases {
    pub(super) fn new(sessions: Sessions, live: Arc<LiveSessions>) -> Self {
        Self { sessions, node: Uuid::now_v7().to_string(), live, beats: AtomicBool::new(false) }
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    pub(super) fn lease(&self) -> Lease {
        Lease { node: self.node.clone(), until: Utc::now() + LEASE }
    }

    /// Takes an idle session with a message. Calls that a crash left open get results first. `turns`
    /// are those before the message when this returns.
    pub(super) async fn take(
        &self,
        session: &Session,
        turns: &mut Vec<Turn>,
        NewMessage { content, note, options }: NewMessage,
    ) -> Result<(Started, Vec<Entry>)> {
        let title = session.title.is_none().then(|| title(&content));
        let message = entry(NewTurn::from(TurnBody::User { content }));
        let mut held: Option<DateTime<Utc>> = None;
        let (mut after, mut reads) = (session.last_seq, 0);
        loop {
            let open = interrupted_calls(turns);
            let entries: Vec<Entry> = open.chain([message.clone()]).chain(note.clone().map(noted)).collect();
            let (lease, title) = (self.lease(), title.as_deref());
            match self.sessions.begin_run(session.id, &lease, after, &entries, title, options).await? {
                BeginOutcome::Started(started) => return Ok((started, entries)),
                BeginOutcome::Missing => return Err(missing(session.id)),
                BeginOutcome::Waiting | BeginOutcome::Idle => return Err(waits(session.id)),
                // Calls may have been answered since the turns were read.
                BeginOutcome::Moved { seq } if reads < READ_AGAIN => {
                    (after, reads) = (seq, reads + 1);
                    *turns = self.sessions.turns(session.id).await?;
                }
                // The lease of a dead process expires; a live one renews it meanwhile.
                BeginOutcome::Busy { until }
                    if held.is_none_or(|before| until <= before) && !self.live.is_running(session.id) =>
                {
                    held = Some(until);
                    let left = (until - Utc::now()).to_std().unwrap_or_default();
                    tokio::time::sleep((left + Duration::from_millis(20)).min(LOOK_AGAIN)).await;
                }
                BeginOutcome::Busy { .. } | BeginOutcome::Moved { .. } => return Err(busy(session.id)),
            }
        }
    }

    /// Takes a session that waits for nothing any more.
    pub(super) async fn resume(&self, id: Uuid) -> Result<Started> {
        match self.sessions.resume_run(id, &self.lease()).await? {
            BeginOutcome::Started(started) => Ok(started),
            BeginOutcome::Missing => Err(missing(id)),
            BeginOutcome::Waiting => Err(waits(id)),
            BeginOutcome::Busy { .. } | BeginOutcome::Moved { .. } | BeginOutcome::Idle => Err(busy(id)),
        }
    }

    /// Renews the leases of running sessions for as long as there are any, and obeys what other
    /// processes request for them.
    pub(super) fn keep_alive(self: &Arc<Self>) {
        if self.beats.swap(true, Ordering::AcqRel) {
            return;
        }
        let leases = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                let mut running = leases.live.running();
                if running.is_empty() {
                    leases.beats.store(false, Ordering::Release);
                    // A run that began in between relies on this task.
                    running = leases.live.running();
                    if running.is_empty() || leases.beats.swap(true, Ordering::AcqRel) {
                        return;
                    }
                }
                match leases.sessions.renew_leases(&leases.node, &running, Utc::now() + LEASE).await {
                    Ok(requests) => requests.iter().for_each(|request| leases.obey(request)),
                    Err(error) => tracing::warn!(%error, "the leases of running sessions were not renewed"),
                }
            }
        });
    }

    fn obey(&self, Control { session, mode, cancel_requested }: &Control) {
        let Some(live) = self.live.find(*session) else { return };
        if *mode == Mode::Plan {
            live.plan();
        }
        if *cancel_requested {
            live.run.cancel();
        }
    }
}

/// The beginning of the first message, on one line.
fn title(content: &str) -> String {
    let line = content.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limits::TITLE_CHARS) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    }
}

pub(super) fn missing(id: Uuid) -> Error {
    SessionError::Unknown(id).into()
}

pub(super) fn busy(id: Uuid) -> Error {
    SessionError::Busy(id).into()
}

fn waits(id: Uuid) -> Error {
    SessionError::Waits(id).into()
}
