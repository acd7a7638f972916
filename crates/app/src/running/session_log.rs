//! Logs of sessions, read and written from outside of their runs.

use std::sync::Arc;

use agent::{ApprovalAnswer, End, Entry, ErrorCode, Event, LogEntry, Mode, Note, Turn, TurnBody};
use sessions::{AfterRun, AnswerOutcome, RunChange, Sessions};
use uuid::Uuid;

use super::gone::last_entries;
use super::live_sessions::LiveSessions;
use super::record::noted;
use crate::Result;

/// Entries read at once.
const LOG_PAGE: usize = 500;
/// Entries at the end of a log that are searched for how its last run ended.
const LAST_ENTRIES: i64 = 50;

/// Stores entries, then reports them to viewers at this process.
#[derive(Debug, Clone)]
pub(super) struct SessionLog {
    sessions: Sessions,
    live: Arc<LiveSessions>,
}

/// A user's message, and the turns from it on.
pub(super) struct UserMessage {
    pub(super) seq: i64,
    pub(super) content: String,
    pub(super) turns: Vec<Uuid>,
}

impl SessionLog {
    pub(super) fn new(sessions: Sessions, live: Arc<LiveSessions>) -> Self {
        Self { sessions, live }
    }

    fn report(&self, id: Uuid, seq: i64, note: &Entry) {
        if let Some(live) = self.live.find(id) {
            live.feed.report(seq, Event::from(note));
        }
    }

    /// Switches one session. Returns false if it does not exist.
    pub(super) async fn set_mode(&self, id: Uuid, mode: Mode) -> Result<bool> {
        let note = noted(Note::ModeChanged { mode });
        let Some(seq) = self.sessions.set_mode(id, mode, &note).await? else { return Ok(false) };
        if let Some(live) = self.live.find(id) {
            live.set_mode(mode, seq);
        }
        self.report(id, seq, &note);
        Ok(true)
    }

    /// Adds a note to the log of an idle session. Returns false if the session does not exist.
    pub(super) async fn add_note(&self, id: Uuid, note: &Entry) -> Result<bool> {
        let seq = self.sessions.add_note(id, note).await?;
        if let Some(seq) = seq {
            self.report(id, seq, note);
        }
        Ok(seq.is_some())
    }

    /// Stores the answer to an approval request.
    pub(super) async fn answer(
        &self,
        id: Uuid,
        call_id: &str,
        answer: &ApprovalAnswer,
    ) -> Result<AnswerOutcome> {
        let (tool_use_id, approved) = (call_id.to_owned(), answer.approved);
        let note = noted(Note::ApprovalAnswered { tool_use_id, approved });
        let answered = self.sessions.answer_approval(id, call_id, answer, &note).await?;
        if let AnswerOutcome::Recorded { seq, .. } = &answered {
            self.report(id, *seq, &note);
        }
        Ok(answered)
    }

    /// Takes back a message and everything after it. Returns false if the log has grown since `last_seq`.
    pub(super) async fn take_back(&self, id: Uuid, message: &UserMessage, last_seq: i64) -> Result<bool> {
        let note = noted(Note::TextDiscarded { turns: message.turns.clone() });
        let seq = self.sessions.truncate_log(id, message.seq, last_seq, &note).await?;
        if let Some(seq) = seq {
            self.report(id, seq, &note);
        }
        Ok(seq.is_some())
    }

    /// Ends the run of a session that this process holds as `holder` and does not drive.
    pub(super) async fn end_run(&self, id: Uuid, holder: &str, end: End, error: Option<Note>) -> Result<()> {
        let entries = last_entries(&self.sessions.turns(id).await?, end, error);
        let change = RunChange { then: Some(AfterRun::Idle), ..RunChange::default() };
        let appended = self.sessions.append(id, holder, &entries, &change).await?;
        if let Some(live) = self.live.find(id) {
            let first = appended.seq + 1 - entries.len() as i64;
            live.feed.report_all(first, entries.iter().map(Event::from));
        }
        Ok(())
    }

    /// The last message of a session.
    pub(super) async fn last_message(&self, id: Uuid) -> Result<Option<UserMessage>> {
        let (mut after, mut last) = (0, None);
        loop {
            let page = self.sessions.log(id, after, LOG_PAGE).await?;
            let (is_last, through) = (page.len() < LOG_PAGE, page.last().map_or(after, |found| found.seq));
            for LogEntry { seq, entry } in page {
                match (entry, &mut last) {
                    (Entry::Turn(Turn { id, body: TurnBody::User { content }, .. }), last) => {
                        *last = Some(UserMessage { seq, content, turns: vec![id] });
                    }
                    (Entry::Turn(Turn { id, .. }), Some(last)) => last.turns.push(id),
                    // A viewer that was away does not know that these were taken back.
                    (Entry::Note { note: Note::TextDiscarded { turns }, .. }, Some(last)) => {
                        last.turns.extend(turns);
                    }
                    _ => {}
                }
            }
            if is_last {
                return Ok(last);
            }
            after = through;
        }
    }

    /// The end of a session's last run, if it has ended.
    pub(super) async fn last_end(&self, id: Uuid) -> Result<Option<End>> {
        self.last_note(id, |note| match note {
            Note::Done { stop_reason } => Some(*stop_reason),
            _ => None,
        })
        .await
    }

    /// The error of a session's last run, if it failed.
    pub(super) async fn last_error(&self, id: Uuid) -> Result<Option<String>> {
        Ok(self.last_failure(id).await?.map(|(_, message)| message))
    }

    /// The same, with its code.
    pub(super) async fn last_failure(&self, id: Uuid) -> Result<Option<(ErrorCode, String)>> {
        self.last_note(id, |note| match note {
            Note::Error { code, message } if !code.is_warning() => Some((*code, message.clone())),
            _ => None,
        })
        .await
    }

    async fn last_note<T>(&self, id: Uuid, find: impl Fn(&Note) -> Option<T>) -> Result<Option<T>> {
        let Some(session) = self.sessions.session(id).await? else { return Ok(None) };
        let after = (session.last_seq - LAST_ENTRIES).max(0);
        let last = self.sessions.log(id, after, LAST_ENTRIES as usize).await?;
        Ok(last.iter().rev().find_map(|LogEntry { entry, .. }| match entry {
            Entry::Note { note, .. } => find(note),
            Entry::Turn(_) => None,
        }))
    }
}
