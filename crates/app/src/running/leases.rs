//! Holding sessions by leases, and waiting for the leases of others. A lease is over seconds after its
//! process is gone.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{
    Conversation, Entry, LeaseObserver, LeaseVerdict, Mode, NewTurn, Note, RunOptions, Session,
    SessionStatus, TurnBody, limits,
};
use database::Presence;
use sessions::{BeginOutcome, Claim, Control, SeenSession, Sessions, Started};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use uuid::Uuid;

use super::live_sessions::LiveSessions;
use super::record::{entry, interrupted_calls, noted};
use crate::{Error, Result, SessionError};

/// How often a log that others add to is read again before a message is put behind it.
const READ_AGAIN: usize = 10;

/// This process's leases.
#[derive(Debug)]
pub(super) struct Leases {
    sessions: Sessions,
    /// This process, as the database knows it. A new name each time it starts.
    node: Uuid,
    /// Shows other processes that this one lives, from its first claim on.
    presence: OnceCell<Option<Presence>>,
    /// The number of claims so far: each one has its own name, so a run that lost its session cannot write
    /// to it when this process takes it again.
    claims: AtomicU64,
    live: Arc<LiveSessions>,
    /// True while the heartbeat's task runs.
    beats: AtomicBool,
    others: Mutex<Others>,
    /// The beginning of this process's own time.
    started: Instant,
}

/// Leases of other processes.
#[derive(Debug, Default)]
struct Others {
    observer: LeaseObserver,
    /// Sessions that a task of this process watches.
    watched: HashSet<Uuid>,
}

/// A message that begins a run.
pub(super) struct NewMessage {
    pub(super) content: String,
    /// Follows the message in the log.
    pub(super) note: Option<Note>,
    pub(super) options: RunOptions,
}

/// A session that this process has taken.
pub(super) struct Held {
    pub(super) started: Started,
    /// The name under which it is held.
    pub(super) holder: String,
}

/// A session as one look finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Its holder lives.
    Live,
    /// Its holder may be gone.
    Unknown,
    /// Its lease with this beat may be taken.
    Over(i64),
    /// It is in another state.
    Other(SessionStatus),
}

impl Leases {
    pub(super) fn new(sessions: Sessions, live: Arc<LiveSessions>) -> Self {
        Self {
            sessions,
            node: Uuid::now_v7(),
            presence: OnceCell::new(),
            claims: AtomicU64::new(0),
            live,
            beats: AtomicBool::new(false),
            others: Mutex::default(),
            started: Instant::now(),
        }
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A claim under a new name.
    pub(super) async fn claim(&self, over: Option<i64>) -> Claim {
        let announce = async || match self.sessions.announce(self.node).await {
            Ok(presence) => presence,
            Err(error) => {
                tracing::warn!(%error, "the sessions of processes that are gone were not released");
                None
            }
        };
        self.presence.get_or_init(announce).await;
        let number = self.claims.fetch_add(1, Ordering::Relaxed);
        Claim { holder: self.sessions.holder(self.node, number), over }
    }

    /// Takes an idle session with a message. Calls that a crash left open get results first. `turns`
    /// are those before the message when this returns. Waits a limited time for another process's lease.
    pub(super) async fn take(
        &self,
        session: &Session,
        turns: &mut Conversation,
        NewMessage { content, note, options }: NewMessage,
    ) -> Result<(Held, Vec<Entry>)> {
        let title = session.title.is_none().then(|| title(&content));
        let message = entry(NewTurn::from(TurnBody::User { content }));
        let deadline = Instant::now() + limits::LEASE_PATIENCE;
        let mut claim = self.claim(None).await;
        let (mut after, mut reads) = (session.last_seq, 0);
        loop {
            let open = interrupted_calls(turns);
            let entries: Vec<Entry> = open.chain([message.clone()]).chain(note.clone().map(noted)).collect();
            let title = title.as_deref();
            match self.sessions.begin_run(session.id, &claim, after, &entries, title, options).await? {
                BeginOutcome::Started(started) => {
                    return Ok((Held { started, holder: claim.holder }, entries));
                }
                BeginOutcome::Missing => return Err(missing(session.id)),
                BeginOutcome::Waiting | BeginOutcome::Idle => return Err(waits(session.id)),
                // Calls may have been answered since the turns were read.
                BeginOutcome::Moved { seq } if reads < READ_AGAIN => {
                    (after, reads) = (seq, reads + 1);
                    *turns = self.sessions.turns(session.id).await?.into();
                }
                BeginOutcome::Busy => claim = self.outlast(session.id, deadline).await?,
                BeginOutcome::Moved { .. } => return Err(busy(session.id)),
            }
        }
    }

    /// Takes a session that waits for nothing any more.
    pub(super) async fn resume(&self, id: Uuid) -> Result<Held> {
        let claim = self.claim(None).await;
        match self.sessions.resume_run(id, &claim).await? {
            BeginOutcome::Started(started) => Ok(Held { started, holder: claim.holder }),
            BeginOutcome::Missing => Err(missing(id)),
            BeginOutcome::Waiting => Err(waits(id)),
            BeginOutcome::Busy | BeginOutcome::Moved { .. } | BeginOutcome::Idle => Err(busy(id)),
        }
    }

    /// Takes a session whose lease is over. Returns none if it is in another state by now.
    pub(super) async fn recover(&self, id: Uuid, claim: Claim) -> Result<Option<Held>> {
        Ok(match self.sessions.recover_run(id, &claim).await? {
            BeginOutcome::Started(started) => Some(Held { started, holder: claim.holder }),
            _ => None,
        })
    }

    /// Looks at the lease of a session that another process runs.
    pub(super) async fn look(&self, id: Uuid) -> Result<Seen> {
        self.look_at(id, SessionStatus::Running).await
    }

    /// Looks at a session that waits for nothing: it is over if no process resumes it for as long as a
    /// lease lasts.
    pub(super) async fn look_waiting(&self, id: Uuid) -> Result<Seen> {
        self.look_at(id, SessionStatus::Waiting).await
    }

    async fn look_at(&self, id: Uuid, expected: SessionStatus) -> Result<Seen> {
        let seen = self.sessions.see(&[id]).await?;
        // A deleted session is at rest.
        let Some(SeenSession { status, lease, .. }) = seen.into_iter().next() else {
            return Ok(Seen::Other(SessionStatus::Idle));
        };
        if status != expected {
            return Ok(Seen::Other(status));
        }
        Ok(match self.others().observer.look(id, lease, self.started.elapsed()) {
            LeaseVerdict::Live => Seen::Live,
            LeaseVerdict::Unknown => Seen::Unknown,
            LeaseVerdict::Over => Seen::Over(lease.beat),
        })
    }

    /// Waits until another process's lease is over, and returns a claim that takes it. Fails if the session's
    /// process lives, or at the deadline.
    pub(super) async fn outlast(&self, id: Uuid, deadline: Instant) -> Result<Claim> {
        while Instant::now() < deadline && !self.live.is_running(id) {
            match self.look(id).await? {
                Seen::Over(beat) => return Ok(self.claim(Some(beat)).await),
                Seen::Other(_) => return Ok(self.claim(None).await),
                Seen::Live => break,
                Seen::Unknown => tokio::time::sleep(limits::LOOK_AGAIN).await,
            }
        }
        Err(busy(id))
    }

    /// Registers a task that watches a session. Returns false if there is one already.
    pub(super) fn begin_watch(&self, id: Uuid) -> bool {
        self.others().watched.insert(id)
    }

    pub(super) fn end_watch(&self, id: Uuid) {
        self.others().watched.remove(&id);
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
                tokio::time::sleep(limits::HEARTBEAT).await;
                let mut running = leases.live.running();
                if running.is_empty() {
                    leases.beats.store(false, Ordering::Release);
                    // A run that began in between relies on this task.
                    running = leases.live.running();
                    if running.is_empty() || leases.beats.swap(true, Ordering::AcqRel) {
                        return;
                    }
                }
                match leases.sessions.renew_leases(&running).await {
                    Ok(requests) => leases.obey(&running, &requests),
                    Err(error) => tracing::warn!(%error, "the leases of running sessions were not renewed"),
                }
            }
        });
    }

    /// Obeys the requests to running sessions. A run without one has lost its session to another process,
    /// which took this one for dead while it was paused.
    fn obey(&self, running: &[(Uuid, String)], requests: &[Control]) {
        for (session, holder) in running {
            let Some(live) = self.live.find(*session) else { continue };
            let Some(request) = requests.iter().find(|request| request.session == *session) else {
                live.run.interrupt_lost(holder);
                continue;
            };
            if request.mode == Mode::Plan {
                live.plan();
            }
            if request.cancel_requested {
                live.run.cancel();
            }
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

pub(crate) fn busy(id: Uuid) -> Error {
    SessionError::Busy(id).into()
}

fn waits(id: Uuid) -> Error {
    SessionError::Waits(id).into()
}
