//! Taking a session to run it: for a new message, or on from where it waited.

use std::sync::Arc;
use std::time::Duration;

use agent::{
    ApprovalPolicy, End, Entry, ErrorCode, Event, LogEntry, NewTurn, Note, Refusal, Refused, Run, RunOptions,
    Session, Turn, TurnBody, limits, open_calls,
};
use chrono::{DateTime, Utc};
use sessions::{Began, Lease, Started};
use tokio_util::sync::CancellationToken;
use tools::Registered;
use uuid::Uuid;

use super::Inner;
use super::delegate::Delegate;
use super::drive::{Driven, Driver, entry, noted};
use super::live::Live;
use super::own_tools;
use super::prepare::Prepared;
use super::toolset::{Toolset, collect};
use crate::{Error, Result};

/// How long a session stays this process's after it was last heard of.
pub(super) const LEASE: Duration = Duration::from_secs(4);
/// How long to wait before looking again whether whoever holds a session is still there: it says so
/// every second.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How often a log that somebody else adds to is read again before a message is put behind it.
const READ_AGAIN: usize = 10;
/// How many entries at the end of a log are looked through for how its last run ended.
const LAST_ENTRIES: i64 = 50;

const INTERRUPTED: &str = "This tool was interrupted: its run was cut off before the answer was kept. What it \
                           had begun may be done in part.";

pub(super) enum Begin {
    Message {
        content: String,
        options: RunOptions,
    },
    /// The session waited, and its requests are answered.
    Resume,
}

pub(super) struct Starting {
    pub(super) begin: Begin,
    /// Goes on when nobody watches.
    pub(super) detached: bool,
    /// The session that delegated.
    pub(super) parent: Option<Arc<Live>>,
    pub(super) cancel: CancellationToken,
}

impl Inner {
    /// Takes the session and makes its persona ready; the place is that of the message, or of the
    /// last entry before the run's own.
    pub(super) async fn begin(
        self: &Arc<Self>,
        session: Session,
        starting: Starting,
    ) -> Result<(Driver, i64)> {
        let Starting { begin, detached, parent, cancel } = starting;
        let id = session.id;
        let mut prepared = self.prepare(&session.persona, session.scope, &session.overrides).await?;
        let above = self.prepare_above(&session).await?;
        let (provided, problems) = collect(&self.sources, session.root.as_deref(), &prepared).await;
        prepared.problems.extend(problems.into_iter().map(|problem| (ErrorCode::Tools, problem)));
        let mut turns = match session.last_seq {
            0 => Vec::new(),
            _ => self.store().turns(id).await?,
        };
        let (started, entries, told_model) = match begin {
            Begin::Message { content, options } => {
                let first = self.first_model_of(&session, &prepared).await;
                let note = first.clone().map(|(model, reason)| Note::ModelSelected { model, reason });
                let (started, entries) = self.take(&session, &mut turns, content, note, options).await?;
                (started, entries, first.map(|(model, _)| model))
            }
            Begin::Resume => {
                let mut started = self.take_again(id).await?;
                started.options.policy = started.options.policy.resumed();
                // Whoever had the session in between may have said something.
                if started.seq != session.last_seq {
                    turns = self.store().turns(id).await?;
                }
                // What the run has to do without was said when it began.
                prepared.problems.clear();
                prepared.plan_problems.clear();
                (started, Vec::new(), None)
            }
        };
        let said = started.seq - i64::from(told_model.is_some());
        let from = started.seq - entries.len() as i64;
        let live = self.live_below(&session, parent).await?;
        live.set_mode(started.mode, started.seq);
        let number = live.start(cancel.clone(), detached);
        live.tell_all(from + 1, entries.iter().map(Event::from));
        turns.extend(entries.into_iter().filter_map(turn_of));
        if started.cancel_requested {
            cancel.cancel();
        }
        self.keep_alive();
        let run = Run::resume(self.max_tool_rounds(&started, &prepared), &turns);
        let session = Session { last_seq: started.seq, mode: started.mode, ..session };
        let policy = started.options.policy;
        let own = self.own_tools(&session, &prepared, &live, policy);
        let toolset = Toolset::new(provided, own, above);
        let attempt_turns = turns.len();
        let driver = Driver {
            runtime: Arc::clone(self),
            live,
            number,
            is_unwanted: false,
            session,
            turns,
            run,
            prepared,
            toolset,
            policy,
            cancel,
            told_model,
            attempt_from: started.seq + 1,
            attempt_turns,
            is_over: false,
        };
        Ok((driver, said))
    }

    fn max_tool_rounds(&self, started: &Started, prepared: &Prepared) -> u32 {
        let wanted = started.options.max_tool_rounds.or(prepared.max_tool_rounds);
        wanted.or(self.options.max_tool_rounds).unwrap_or(limits::MAX_TOOL_ROUNDS)
    }

    /// The personas that delegated to a session, nearest first.
    async fn prepare_above(&self, session: &Session) -> Result<Vec<Prepared>> {
        let mut above = Vec::new();
        let mut parent = session.parent;
        while let Some(id) = parent {
            let Some(session) = self.store().session(id).await? else { break };
            above.push(self.prepare(&session.persona, session.scope, &session.overrides).await?);
            parent = session.parent;
        }
        Ok(above)
    }

    fn own_tools(
        self: &Arc<Self>,
        session: &Session,
        prepared: &Prepared,
        live: &Arc<Live>,
        policy: ApprovalPolicy,
    ) -> Vec<Registered> {
        let mut own: Vec<Registered> = own_tools::load_skill(&prepared.skills).into_iter().collect();
        if session.depth < limits::DELEGATION_DEPTH {
            let (runtime, live, session) = (Arc::clone(self), Arc::clone(live), session.clone());
            own.push(own_tools::delegate(Arc::new(Delegate { runtime, live, session, policy })));
        }
        own.push(own_tools::plan_exit());
        own
    }

    /// Takes an idle session with a message; calls that a crash left open get their results first. The
    /// turns are those before the message when this returns.
    async fn take(
        &self,
        session: &Session,
        turns: &mut Vec<Turn>,
        content: String,
        note: Option<Note>,
        options: RunOptions,
    ) -> Result<(Started, Vec<Entry>)> {
        let title = session.title.is_none().then(|| title(&content));
        let message = entry(NewTurn::from(TurnBody::User { content }));
        let mut held: Option<DateTime<Utc>> = None;
        let (mut after, mut reads) = (session.last_seq, 0);
        loop {
            let open = interrupted_calls(turns);
            let entries: Vec<Entry> = open.chain([message.clone()]).chain(note.clone().map(noted)).collect();
            let (lease, title) = (self.lease(), title.as_deref());
            match self.store().begin_run(session.id, &lease, after, &entries, title, options).await? {
                Began::Started(started) => return Ok((started, entries)),
                Began::Missing => return Err(missing(session.id)),
                Began::Waiting | Began::Idle => return Err(waits(session.id)),
                // What the turns say is not all: calls may have been answered, for one.
                Began::Moved { seq } if reads < READ_AGAIN => {
                    (after, reads) = (seq, reads + 1);
                    *turns = self.store().turns(session.id).await?;
                }
                // A process that is gone cannot say so: its hold ends by itself. One that lives renews
                // it meanwhile.
                Began::Busy { until }
                    if held.is_none_or(|before| until <= before) && !self.runs(session.id) =>
                {
                    held = Some(until);
                    let left = (until - Utc::now()).to_std().unwrap_or_default();
                    tokio::time::sleep((left + Duration::from_millis(20)).min(LOOK_AGAIN)).await;
                }
                Began::Busy { .. } | Began::Moved { .. } => return Err(busy(session.id)),
            }
        }
    }

    pub(super) async fn take_again(&self, id: Uuid) -> Result<Started> {
        match self.store().resume_run(id, &self.lease()).await? {
            Began::Started(started) => Ok(started),
            Began::Missing => Err(missing(id)),
            Began::Waiting => Err(waits(id)),
            Began::Busy { .. } | Began::Moved { .. } | Began::Idle => Err(busy(id)),
        }
    }

    pub(super) fn lease(&self) -> Lease {
        Lease { node: self.node.clone(), until: Utc::now() + LEASE }
    }

    /// Drives a run in a task of its own, and whatever waited for it afterwards.
    pub(super) fn spawn(self: &Arc<Self>, driver: Driver) {
        let (runtime, parent) = (Arc::clone(self), driver.session.parent);
        tokio::spawn(async move {
            let driven = driver.drive().await;
            if let (Driven::Ended(_), Some(parent)) = (driven, parent) {
                runtime.go_on(parent).await;
            }
        });
    }

    /// How the last run of a session ended; none where it did not.
    pub(super) async fn last_end(&self, id: Uuid) -> Result<Option<End>> {
        self.last_note(id, |note| match note {
            Note::Done { stop_reason } => Some(*stop_reason),
            _ => None,
        })
        .await
    }

    /// Why it failed, where it did.
    pub(super) async fn last_error(&self, id: Uuid) -> Result<Option<String>> {
        self.last_note(id, |note| match note {
            Note::Error { code, message } if !code.is_warning() => Some(message.clone()),
            _ => None,
        })
        .await
    }

    async fn last_note<T>(&self, id: Uuid, wanted: impl Fn(&Note) -> Option<T>) -> Result<Option<T>> {
        let Some(session) = self.store().session(id).await? else { return Ok(None) };
        let last =
            self.store().log(id, (session.last_seq - LAST_ENTRIES).max(0), LAST_ENTRIES as usize).await?;
        Ok(last.iter().rev().find_map(|LogEntry { entry, .. }| match entry {
            Entry::Note { note, .. } => wanted(note),
            Entry::Turn(_) => None,
        }))
    }

    /// A session's own, joined to those above it: they decide about its mode.
    async fn live_below(&self, session: &Session, parent: Option<Arc<Live>>) -> Result<Arc<Live>> {
        let parent = match (parent, session.parent) {
            (None, Some(above)) => match self.store().session(above).await? {
                Some(above) => Some(Box::pin(self.live_below(&above, None)).await?),
                None => None,
            },
            (parent, _) => parent,
        };
        let live = self.live(session, parent);
        live.set_mode(session.mode, session.last_seq);
        Ok(live)
    }
}

/// Results for the calls that have none: their run was cut off.
pub(super) fn interrupted_calls(turns: &[Turn]) -> impl Iterator<Item = Entry> {
    open_calls(turns).into_iter().map(|tool_use_id| {
        let refused = Refused::new(Refusal::Interrupted, INTERRUPTED);
        entry(NewTurn::from(TurnBody::refused(tool_use_id, refused)))
    })
}

fn turn_of(entry: Entry) -> Option<Turn> {
    match entry {
        Entry::Turn(turn) => Some(turn),
        Entry::Note { .. } => None,
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
    Error::Absent(format!("there is no session {id}; list the sessions to see which there are"))
}

pub(super) fn busy(id: Uuid) -> Error {
    Error::Running(format!("session {id} is answering a message; wait until it is done, or cancel it"))
}

fn waits(id: Uuid) -> Error {
    Error::Running(format!("session {id} waits for an approval; answer it first, or cancel"))
}
