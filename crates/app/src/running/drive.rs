//! Driving a run: performs the steps of the loop and keeps what comes of them.

use std::sync::Arc;

use agent::{
    ApprovalPolicy, End, Entry, ErrorCode, Event, Mode, NewTurn, Note, Run, Session, Step, Turn, TurnBody,
};
use chrono::Utc;
use llm::ModelRef;
use sessions::{After, Appended, RunChange};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Inner;
use super::live::Live;
use super::own_tools::DELEGATE;
use super::prepare::Prepared;
use super::toolset::Toolset;

/// How a drive came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driven {
    Ended(End),
    /// It waits for permission; whoever gives it has it driven on.
    Waiting,
    /// Another process has the session now, or may: its end could not be kept.
    Lost,
}

/// Why a drive cannot go on: the database did not take what has to be kept.
#[derive(Debug)]
pub(super) struct NotKept(pub(super) sessions::Error);

pub(super) struct Driver {
    pub(super) runtime: Arc<Inner>,
    pub(super) live: Arc<Live>,
    /// The run's number there.
    pub(super) number: u64,
    /// Somebody cancelled it.
    pub(super) is_unwanted: bool,
    pub(super) session: Session,
    pub(super) turns: Vec<Turn>,
    pub(super) run: Run,
    pub(super) prepared: Prepared,
    pub(super) toolset: Toolset,
    pub(super) policy: ApprovalPolicy,
    pub(super) cancel: CancellationToken,
    /// The model that viewers were told of last.
    pub(super) told_model: Option<ModelRef>,
    /// Where the attempt that is under way began: what follows is void if it fails.
    pub(super) attempt_from: i64,
    /// How many turns there were then.
    pub(super) attempt_turns: usize,
    /// Its end is kept, or that it waits.
    pub(super) is_over: bool,
}

impl Driver {
    /// Drives the run until it ends or waits.
    pub(super) async fn drive(mut self) -> Driven {
        let driven = match self.steps().await {
            Ok(driven) => driven,
            Err(NotKept(error)) if error.kind() == persona::ErrorKind::Conflict => self.lose(&error),
            Err(NotKept(error)) => {
                tracing::error!(session = %self.session.id, %error, "the session could not be kept");
                self.end_unkept(&error).await
            }
        };
        self.is_unwanted |= self.live.stop(self.number);
        if driven == Driven::Waiting && self.is_unwanted {
            // Somebody cancelled while it was being put down.
            self.runtime.cancel_put_down(self.session.id).await;
        } else if driven == Driven::Waiting && self.delegates() {
            // The delegate that is waited for may have come to its end just before.
            self.runtime.go_on(self.session.id).await;
        }
        driven
    }

    pub(super) fn lose(&self, error: &sessions::Error) -> Driven {
        tracing::warn!(session = %self.session.id, %error, "another process took the session over");
        Driven::Lost
    }

    async fn steps(&mut self) -> Result<Driven, NotKept> {
        let problems = std::mem::take(&mut self.prepared.problems);
        self.tell_problems(problems).await?;
        loop {
            if self.cancel.is_cancelled() && !matches!(self.run.step(), Step::Finished(_)) {
                let delegates = self.delegates();
                let turns = self.run.cancel();
                self.keep_turns(turns).await?;
                if delegates {
                    self.runtime.cancel_below(self.session.id).await;
                }
            }
            match self.run.step() {
                Step::CallModel => self.call_model().await?,
                Step::RunTools => {
                    if !self.run_tools().await? {
                        return Ok(Driven::Waiting);
                    }
                }
                // The reply that it ended with was kept together with its end.
                Step::Finished(end) if self.is_over => return Ok(Driven::Ended(end)),
                Step::Finished(end) => {
                    let done = vec![noted(Note::Done { stop_reason: end })];
                    self.keep(done, RunChange { then: Some(After::Idle), ..RunChange::default() }).await?;
                    return Ok(Driven::Ended(end));
                }
            }
        }
    }

    pub(super) async fn tell_problems(&mut self, problems: Vec<(ErrorCode, String)>) -> Result<(), NotKept> {
        if problems.is_empty() {
            return Ok(());
        }
        let notes = problems.into_iter().map(|(code, message)| noted(Note::Error { code, message }));
        self.keep(notes.collect(), RunChange::default()).await
    }

    /// Whether somebody else's work is waited for.
    pub(super) fn delegates(&self) -> bool {
        self.run.pending().iter().any(|pending| pending.call.name == DELEGATE)
    }

    pub(super) fn mode(&self) -> Mode {
        self.live.mode()
    }

    pub(super) async fn note(&mut self, note: Note) -> Result<(), NotKept> {
        self.keep(vec![noted(note)], RunChange::default()).await
    }

    pub(super) async fn keep_turns(&mut self, turns: Vec<NewTurn>) -> Result<(), NotKept> {
        if turns.is_empty() {
            return Ok(());
        }
        let entries = turns.into_iter().map(entry).collect();
        self.keep(entries, RunChange::default()).await
    }

    /// Stores entries, then tells them.
    pub(super) async fn keep(&mut self, entries: Vec<Entry>, change: RunChange) -> Result<(), NotKept> {
        let store = self.runtime.store();
        let appended = store.append(self.session.id, &self.runtime.node, &entries, &change).await;
        let Appended { seq, mode, cancel_requested } = appended.map_err(NotKept)?;
        if change.discard_from.is_some() {
            self.turns.truncate(self.turns.len() - discarded(&entries).min(self.turns.len()));
        }
        if change.then.is_some() {
            self.is_over = true;
            // Whoever is told of the end finds that it has ended.
            self.is_unwanted |= self.live.stop(self.number);
        }
        let first = seq + 1 - entries.len() as i64;
        self.live.tell_all(first, entries.iter().map(Event::from));
        self.turns.extend(entries.into_iter().filter_map(|entry| match entry {
            Entry::Turn(turn) => Some(turn),
            Entry::Note { .. } => None,
        }));
        self.session.last_seq = seq;
        self.live.set_mode(mode, seq);
        if cancel_requested {
            self.is_unwanted = true;
            self.cancel.cancel();
        }
        Ok(())
    }
}

/// The persona's last text: what a delegate reports.
pub(super) fn last_text(turns: &[Turn]) -> Option<String> {
    turns.iter().rev().find_map(|turn| match &turn.body {
        TurnBody::AssistantText { content } if !content.trim().is_empty() => Some(content.clone()),
        _ => None,
    })
}

/// How many turns a note of the entries takes back.
fn discarded(entries: &[Entry]) -> usize {
    let counts = entries.iter().map(|entry| match entry {
        Entry::Note { note: Note::TextDiscarded { turns }, .. } => turns.len(),
        _ => 0,
    });
    counts.sum()
}

pub(super) fn noted(note: Note) -> Entry {
    Entry::Note { at: Utc::now(), note }
}

pub(super) fn entry(turn: NewTurn) -> Entry {
    let NewTurn { body, provider_state } = turn;
    Entry::Turn(Turn { id: Uuid::now_v7(), created_at: Utc::now(), body, provider_state })
}
