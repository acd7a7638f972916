//! Giving a task to another persona, in a session of its own below this one.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{Approval, End, Mode, Note, PendingCall, Session, SessionStatus, Turn, TurnBody};
use persona::{Name, Request, View};
use sessions::{Parent, SessionFilter};
use tokio_util::sync::CancellationToken;
use tools::Answer;

use super::Inner;
use super::begin::{Begin, Starting};
use super::calls::{NOBODY_TO_ASK, Outcome};
use super::drive::{Approvals, Driven, Driver};
use super::live::Live;
use super::sessions::new_session;
use super::toolset::text;
use crate::Result;

pub(super) struct Delegation {
    pub(super) runtime: Arc<Inner>,
    pub(super) live: Arc<Live>,
    pub(super) session: Session,
    pub(super) mode: Mode,
    pub(super) approvals: Approvals,
    pub(super) cancel: CancellationToken,
}

impl Delegation {
    pub(super) async fn perform(&self, call: &PendingCall) -> Outcome {
        match self.delegated(call).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Answered(Answer::error(format!("The task was not given: {error}"))),
        }
    }

    async fn delegated(&self, call: &PendingCall) -> Result<Outcome> {
        let (persona, task) = match (text(&call.input, "persona"), text(&call.input, "task")) {
            (Ok(persona), Ok(task)) => (persona, task),
            (Err(why), _) | (_, Err(why)) => return Ok(Outcome::Answered(Answer::error(why))),
        };
        if let Some(below) = self.below(call).await? {
            return self.outcome_of(&below).await;
        }
        let persona = match Name::parse(persona) {
            Ok(persona) => persona,
            Err(error) => return Ok(Outcome::Answered(Answer::error(format!("persona: {error}")))),
        };
        // Nothing is left behind for one that is not there.
        self.runtime.library.load(&persona, None, &Request::plain(View::Detail)).await?;
        let below = Session {
            mode: self.mode,
            root: self.session.root.clone(),
            parent: Some(self.session.id),
            parent_call: Some(call.tool_use_id.clone()),
            depth: self.session.depth + 1,
            ..new_session(persona, None, BTreeMap::new())
        };
        self.runtime.store().create_session(&below).await?;
        let starting = Starting {
            begin: Begin::Message { content: task.to_owned(), max_tool_rounds: None },
            approvals: self.approvals,
            detached: true,
            parent: Some(Arc::clone(&self.live)),
            cancel: self.cancel.clone(),
        };
        let (driver, _) = self.runtime.begin(below.clone(), starting).await?;
        let driven: Driven = Box::pin(driver.drive()).await;
        match driven {
            Driven::Lost => {
                let why = "The task was cut off: its session is not run here any more. Its report is lost.";
                Ok(Outcome::Answered(Answer::error(why)))
            }
            Driven::Ended(_) | Driven::Waiting => self.outcome_of(&below).await,
        }
    }

    /// The session that this very call began earlier.
    async fn below(&self, call: &PendingCall) -> Result<Option<Session>> {
        let mut filter = SessionFilter { parent: Parent::Of(self.session.id), ..SessionFilter::default() };
        loop {
            let page = self.runtime.store().sessions(&filter).await?;
            let is_it = |session: &Session| session.parent_call.as_deref() == Some(&call.tool_use_id);
            match (page.items.into_iter().find(is_it), page.next) {
                (Some(found), _) => return Ok(Some(found)),
                (None, None) => return Ok(None),
                (None, next) => filter.cursor = next,
            }
        }
    }

    /// What a delegate has come to.
    async fn outcome_of(&self, below: &Session) -> Result<Outcome> {
        let active = self.runtime.active_below(self.session.id).await?;
        if let Some(below) = active.iter().find(|active| active.id == below.id) {
            let pending = self.runtime.pending(below).await?;
            return Ok(Outcome::Waiting(pending.into_iter().map(request).collect()));
        }
        let end = self.runtime.last_end(below.id).await?;
        let turns = self.runtime.store().turns(below.id).await?;
        // A delegate's plan is for whoever gave the task.
        let found = self.runtime.store().session(below.id).await?;
        let plan = found.and_then(|found| found.plan).map(|plan| plan.content);
        let report = plan.or_else(|| Driver::last_text(&turns));
        Ok(Outcome::Answered(match (end, report) {
            (Some(End::EndTurn), Some(report)) if has_refused(&turns) => {
                Answer::text(format!("{report}\n\n(Something was not run: {NOBODY_TO_ASK}.)"))
            }
            (Some(End::EndTurn), Some(report)) => Answer::text(report),
            (Some(End::EndTurn), None) => Answer::text("The task was worked on; there is no report."),
            (end, report) => {
                let error = self.runtime.last_error(below.id).await?;
                let why = error.map(|error| format!(": {error}")).unwrap_or_default();
                let end = end.map_or("interrupted", End::as_str);
                let report = report.map(|report| format!(" The last that was said:\n\n{report}"));
                Answer::error(format!(
                    "The task was not finished ({end}{why}).{}",
                    report.unwrap_or_default()
                ))
            }
        }))
    }
}

/// Whether a call was refused because nobody could be asked.
fn has_refused(turns: &[Turn]) -> bool {
    turns.iter().any(|turn| match &turn.body {
        TurnBody::ToolResult { output, is_error, .. } => *is_error && output.contains(NOBODY_TO_ASK),
        _ => false,
    })
}

impl Inner {
    /// What a session waits for: its own calls, and those of its delegates and of theirs.
    pub(super) async fn pending(&self, session: &Session) -> Result<Vec<Approval>> {
        if session.status != SessionStatus::Waiting {
            return Ok(Vec::new());
        }
        let mut pending = self.store().approvals(session.id, true).await?;
        for below in self.active_below(session.id).await? {
            pending.extend(Box::pin(self.pending(&below)).await?);
        }
        Ok(pending)
    }
}

fn request(approval: Approval) -> Note {
    let Approval { session, call_id, tool_name, input, .. } = approval;
    Note::ApprovalRequest { session, tool_use_id: call_id, tool_name, input }
}
