//! The record of a run.

use agent::{
    Conversation, Decisions, Entry, Event, Mode, NewTurn, Note, Refusal, Refused, Session, Turn, TurnBody,
    open_calls,
};
use chrono::Utc;
use llm::ToolCall;
use sessions::{Appended, RunChange};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::journal::Journal;
use super::live::LiveRun;
use super::prepare::RunProblem;

const INTERRUPTED: &str = "This tool was interrupted: the process stopped before the result was stored. The work may be \
                           done in part.";

/// The journal did not take an entry: the run cannot continue.
#[derive(Debug)]
pub(super) struct NotStored(pub(super) sessions::Error);

/// A run's session and turns. Every entry is stored first and reported to viewers then.
pub(super) struct Record {
    journal: Box<dyn Journal>,
    pub(super) live: LiveRun,
    pub(super) session: Session,
    pub(super) turns: Conversation,
    pub(super) cancel: CancellationToken,
    /// The run's end is stored, or that it waits.
    is_over: bool,
}

/// The place at which an attempt begins. If it fails, the turns from there on are void.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptStart {
    seq: i64,
    turns: usize,
}

impl Record {
    pub(super) fn new(
        journal: Box<dyn Journal>,
        live: LiveRun,
        session: Session,
        turns: impl Into<Conversation>,
        cancel: CancellationToken,
    ) -> Self {
        Self { journal, live, session, turns: turns.into(), cancel, is_over: false }
    }

    /// The id of the session. `None` if the run is not stored.
    pub(super) fn stored_session(&self) -> Option<Uuid> {
        self.journal.stored_session()
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Stores entries, then reports them.
    pub(super) async fn append(&mut self, entries: Vec<Entry>, change: RunChange) -> Result<(), NotStored> {
        let appended = self.journal.append(&entries, &change).await;
        let Appended { seq, mode, cancel_requested } = appended.map_err(NotStored)?;
        if change.discard_from.is_some() {
            self.turns.truncate(self.turns.len() - discarded(&entries).min(self.turns.len()));
        }
        self.turns.extend(entries.iter().filter_map(turn_in).cloned());
        if change.then.is_some() {
            self.is_over = true;
            // The next message may come with the news of the end.
            self.journal.keep(seq, std::mem::take(&mut self.turns));
            // A viewer that learns of the end finds the session at rest.
            self.live.stop();
        }
        let first = seq + 1 - entries.len() as i64;
        self.live.feed.report_all(first, entries.iter().map(Event::from));
        self.session.last_seq = seq;
        self.live.set_mode(mode, seq);
        if cancel_requested {
            self.live.mark_unwanted();
            self.cancel.cancel();
        }
        Ok(())
    }

    pub(super) async fn note(&mut self, note: Note) -> Result<(), NotStored> {
        self.append(vec![noted(note)], RunChange::default()).await
    }

    pub(super) async fn append_turns(&mut self, turns: Vec<NewTurn>) -> Result<(), NotStored> {
        if turns.is_empty() {
            return Ok(());
        }
        self.append(turns.into_iter().map(entry).collect(), RunChange::default()).await
    }

    /// Notes what the run has to do without.
    pub(super) async fn note_problems(&mut self, problems: Vec<RunProblem>) -> Result<(), NotStored> {
        if problems.is_empty() {
            return Ok(());
        }
        self.append(problems.into_iter().map(noted).collect(), RunChange::default()).await
    }

    pub(super) fn begin_attempt(&self) -> AttemptStart {
        AttemptStart { seq: self.session.last_seq + 1, turns: self.turns.len() }
    }

    /// Takes back the turns of an attempt, and its text if it had some.
    pub(super) async fn discard_attempt(
        &mut self,
        start: AttemptStart,
        had_text: bool,
    ) -> Result<(), NotStored> {
        let turns: Vec<Uuid> = self.turns.iter().skip(start.turns).map(|turn| turn.id).collect();
        if turns.is_empty() && !had_text {
            return Ok(());
        }
        let discard_from = (!turns.is_empty()).then_some(start.seq);
        let change = RunChange { discard_from, ..RunChange::default() };
        self.append(vec![noted(Note::TextDiscarded { turns })], change).await
    }

    /// Gives a call an id that is unique in the session: its approval and its delegate are found by
    /// it. Providers see only the turns that they are sent.
    pub(super) fn make_unique(&self, call: &mut ToolCall, unstored: &[Entry]) {
        let unstored = unstored.iter().filter_map(turn_in);
        let is_taken =
            self.turns.iter().chain(unstored).any(
                |turn| matches!(&turn.body, TurnBody::ToolCall { call: taken, .. } if taken.id == call.id),
            );
        if is_taken {
            call.id = format!("call_{}", Uuid::now_v7().simple());
        }
    }

    /// The mode that holds for the session now. Another process may have switched a session above it.
    pub(super) async fn mode(&self) -> Result<Mode, NotStored> {
        let stored = self.journal.mode().await.map_err(NotStored)?;
        Ok(Mode::strictest([stored, self.live.mode()]))
    }

    pub(super) async fn decisions(&self) -> Result<Decisions, NotStored> {
        self.journal.decisions().await.map_err(NotStored)
    }

    /// Reads the turns again. Entries that were refused are not there, unless the database stored
    /// them and only its answer was lost.
    pub(super) async fn reload(&mut self) -> Result<(), NotStored> {
        self.turns = self.journal.turns().await.map_err(NotStored)?.into();
        Ok(())
    }
}

/// The number of turns that a note among the entries takes back.
fn discarded(entries: &[Entry]) -> usize {
    let counts = entries.iter().map(|entry| match entry {
        Entry::Note { note: Note::TextDiscarded { turns }, .. } => turns.len(),
        _ => 0,
    });
    counts.sum()
}

/// Results for the calls that have none because their run was cut off.
pub(super) fn interrupted_calls(turns: &[Turn]) -> impl Iterator<Item = Entry> {
    open_calls(turns).into_iter().map(|tool_use_id| {
        let refused = Refused::new(Refusal::Interrupted, INTERRUPTED);
        entry(NewTurn::from(TurnBody::refused(tool_use_id, refused)))
    })
}

fn turn_in(entry: &Entry) -> Option<&Turn> {
    match entry {
        Entry::Turn(turn) => Some(turn),
        Entry::Note { .. } => None,
    }
}

pub(super) fn turn_of(entry: Entry) -> Option<Turn> {
    match entry {
        Entry::Turn(turn) => Some(turn),
        Entry::Note { .. } => None,
    }
}

pub(super) fn noted(note: Note) -> Entry {
    Entry::Note { at: Utc::now(), note }
}

pub(super) fn entry(turn: NewTurn) -> Entry {
    let NewTurn { body, provider_state } = turn;
    Entry::Turn(Turn { id: Uuid::now_v7(), created_at: Utc::now(), body, provider_state })
}

/// The persona's last text, which a delegate reports.
pub(super) fn last_text(turns: &[Turn]) -> Option<&str> {
    turns.iter().rev().find_map(|turn| match &turn.body {
        TurnBody::AssistantText { content } if !content.trim().is_empty() => Some(content.as_str()),
        _ => None,
    })
}
