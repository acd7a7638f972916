//! Beginning the run of a stored session: with a message, or on from where it waited.

use std::sync::Arc;

use agent::{ApprovalPolicy, End, Entry, ErrorCode, Event, LogEntry, Note, Run, RunOptions, Session, limits};
use tokio_util::sync::CancellationToken;
use tools::Registered;
use uuid::Uuid;

use super::delegate::Delegate;
use super::drive::{Driven, Driver};
use super::journal::StoredJournal;
use super::leases::NewMessage;
use super::live::Live;
use super::prepare::Prepared;
use super::record::{Record, turn_of};
use super::toolset::{Toolset, collect};
use super::{SessionRunner, own_tools};
use crate::Result;

/// Entries at the end of a log that are searched for how its last run ended.
const LAST_ENTRIES: i64 = 50;

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
    /// Continues when nobody watches.
    pub(super) detached: bool,
    /// The session that delegated.
    pub(super) parent: Option<Arc<Live>>,
    pub(super) cancel: CancellationToken,
}

impl SessionRunner {
    /// Takes the session and prepares its persona. Returns the place of the message, or of the last
    /// entry before the run's own.
    pub(super) async fn begin(
        self: &Arc<Self>,
        session: Session,
        starting: Starting,
    ) -> Result<(Driver, i64)> {
        let Starting { begin, detached, parent, cancel } = starting;
        let id = session.id;
        let mut prepared = self.prepare(&session).await?;
        let above = self.prepare_above(&session).await?;
        let (provided, problems) = collect(&self.sources, session.root.as_deref(), &prepared).await;
        prepared.problems.extend(problems.into_iter().map(|problem| (ErrorCode::Tools, problem)));
        let mut turns = match session.last_seq {
            0 => Vec::new(),
            _ => self.store().turns(id).await?,
        };
        let (started, entries, announced) = match begin {
            Begin::Message { content, options } => {
                let first = self.models.first_model_of(&session, &prepared).await;
                let note = first.clone().map(|(model, reason)| Note::ModelSelected { model, reason });
                let message = NewMessage { content, note, options };
                let (started, entries) = self.leases.take(&session, &mut turns, message).await?;
                (started, entries, first.map(|(model, _)| model))
            }
            Begin::Resume => {
                let mut started = self.leases.resume(id).await?;
                started.options.policy = started.options.policy.resumed();
                // Others may have added to the log since it was read.
                if started.seq != session.last_seq {
                    turns = self.store().turns(id).await?;
                }
                // The problems were noted when the run began.
                prepared.problems.clear();
                prepared.plan_problems.clear();
                (started, Vec::new(), None)
            }
        };
        let message_seq = started.seq - i64::from(announced.is_some());
        let first = started.seq + 1 - entries.len() as i64;
        let live = self.live_below(&session, parent).await?;
        live.set_mode(started.mode, started.seq);
        let number = live.start(cancel.clone(), detached);
        live.report_all(first, entries.iter().map(Event::from));
        turns.extend(entries.into_iter().filter_map(turn_of));
        if started.cancel_requested {
            cancel.cancel();
        }
        self.leases.keep_alive();
        let rounds = started.options.max_tool_rounds.or(prepared.max_tool_rounds).or(self.max_tool_rounds);
        let run = Run::resume(rounds.unwrap_or(limits::MAX_TOOL_ROUNDS), &turns);
        let session = Session { last_seq: started.seq, mode: started.mode, ..session };
        let policy = started.options.policy;
        let own = self.own_tools(&session, &prepared, &live, policy);
        let journal = StoredJournal {
            store: self.store().clone(),
            node: self.leases.node().to_owned(),
            session: id,
            parent: session.parent,
        };
        let driver = Driver {
            record: Record::new(Box::new(journal), (live, number), session, turns, cancel),
            run,
            prepared,
            toolset: Toolset::new(provided, own, above),
            policy,
            models: Arc::clone(&self.models),
            announced,
            runner: Some(Arc::clone(self)),
            stopping: self.stopping.clone(),
        };
        Ok((driver, message_seq))
    }

    async fn prepare(&self, session: &Session) -> Result<Prepared> {
        self.personas.prepare(&session.persona, session.scope, &session.overrides).await
    }

    /// The personas that delegated to a session, nearest first.
    async fn prepare_above(&self, session: &Session) -> Result<Vec<Prepared>> {
        let mut above = Vec::new();
        let mut parent = session.parent;
        while let Some(id) = parent {
            let Some(session) = self.store().session(id).await? else { break };
            above.push(self.prepare(&session).await?);
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
            let (runner, live, session) = (Arc::clone(self), Arc::clone(live), session.clone());
            own.push(own_tools::delegate(Arc::new(Delegate { runner, live, session, policy })));
        }
        own.push(own_tools::plan_exit());
        own
    }

    /// Drives a run in a task of its own, then resumes the session that waited for it.
    pub(super) fn spawn(self: &Arc<Self>, driver: Driver) {
        let (runner, parent) = (Arc::clone(self), driver.record.session.parent);
        tokio::spawn(async move {
            let driven = driver.drive().await;
            if let (Driven::Ended(_), Some(parent)) = (driven, parent) {
                runner.resume(parent).await;
            }
        });
    }

    /// How the last run of a session ended, if it did.
    pub(super) async fn last_end(&self, id: Uuid) -> Result<Option<End>> {
        self.last_note(id, |note| match note {
            Note::Done { stop_reason } => Some(*stop_reason),
            _ => None,
        })
        .await
    }

    /// Why it failed, if it did.
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

    /// The live session, joined to those above it, which restrict its mode.
    async fn live_below(&self, session: &Session, parent: Option<Arc<Live>>) -> Result<Arc<Live>> {
        let parent = match (parent, session.parent) {
            (None, Some(above)) => match self.store().session(above).await? {
                Some(above) => Some(Box::pin(self.live_below(&above, None)).await?),
                None => None,
            },
            (parent, _) => parent,
        };
        let live = self.live.get_or_insert(session, parent);
        live.set_mode(session.mode, session.last_seq);
        Ok(live)
    }
}
