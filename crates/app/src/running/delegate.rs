//! Delegation: another persona works on a task, in a session below this one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agent::{Approval, ApprovalPolicy, End, Note, Refusal, RunOptions, Session, ToolCall, Turn, TurnBody};
use futures::future::BoxFuture;
use persona::{AssemblyRequest, Name, View};
use tokio_util::sync::CancellationToken;
use tools::{Handler, Invocation, Outcome};

use super::SessionRunner;
use super::drive::Driven;
use super::live::LiveSession;
use super::own_tools::text;
use super::record::last_text;
use super::sessions::new_session;
use super::starter::{Begin, Starting};
use crate::Result;

/// Handles the calls of `delegate` of one run.
pub(super) struct Delegate {
    pub(super) runner: Arc<SessionRunner>,
    pub(super) live: Arc<LiveSession>,
    pub(super) session: Session,
    pub(super) policy: ApprovalPolicy,
}

impl fmt::Debug for Delegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delegate").field("session", &self.session.id).finish_non_exhaustive()
    }
}

impl Handler for Delegate {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let cancel = invocation.cancelled.child_token();
            match self.delegate(&invocation.call, cancel).await {
                Ok(outcome) => outcome,
                Err(error) => Outcome::error(format!("The task was not given: {error}")),
            }
        })
    }
}

impl Delegate {
    async fn delegate(&self, call: &ToolCall, cancel: CancellationToken) -> Result<Outcome> {
        let (persona, task) = match (text(&call.input, "persona"), text(&call.input, "task")) {
            (Ok(persona), Ok(task)) => (persona, task),
            (Err(outcome), _) | (_, Err(outcome)) => return Ok(outcome),
        };
        if let Some(below) = self.runner.tree.started_by(self.session.id, &call.id).await? {
            return self.outcome_of(&below).await;
        }
        let persona = match Name::parse(persona) {
            Ok(persona) => persona,
            Err(error) => {
                return Ok(Outcome::refused(Refusal::InvalidArguments, format!("persona: {error}")));
            }
        };
        // An unknown persona leaves no session behind.
        self.runner.library.load(&persona, None, &AssemblyRequest::plain(View::Detail)).await?;
        let below = Session {
            mode: self.live.mode(),
            root: self.session.root.clone(),
            parent: Some(self.session.id),
            parent_call: Some(call.id.clone()),
            depth: self.session.depth + 1,
            ..new_session(persona, None, BTreeMap::new())
        };
        self.runner.sessions.create(&below).await?;
        let starting = Starting {
            begin: Begin::Message {
                content: task.to_owned(),
                options: RunOptions { policy: self.policy, max_tool_rounds: None },
            },
            detached: true,
            parent: Some(Arc::clone(&self.live)),
            cancel,
            editing: None,
        };
        let (driver, _) = self.runner.begin(below.clone(), starting).await?;
        let driven: Driven = Box::pin(driver.drive()).await;
        match driven {
            Driven::Lost => {
                let why = "The task was cut off: its session no longer runs here. Its report is lost.";
                Ok(Outcome::refused(Refusal::Interrupted, why))
            }
            Driven::Ended(_) | Driven::Waiting => self.outcome_of(&below).await,
        }
    }

    /// The outcome of a delegate's work so far.
    async fn outcome_of(&self, below: &Session) -> Result<Outcome> {
        let active = self.runner.tree.active_below(self.session.id).await?;
        if let Some(below) = active.iter().find(|active| active.id == below.id) {
            let open = self.runner.tree.open_approvals(below).await?;
            return Ok(Outcome::wait(open.into_iter().map(request).collect()));
        }
        let end = self.runner.log.last_end(below.id).await?;
        let turns = self.runner.sessions.turns(below.id).await?;
        // A delegate's plan is its report.
        let found = self.runner.sessions.session(below.id).await?;
        let plan = found.and_then(|found| found.plan).map(|plan| plan.content);
        let report = plan.or_else(|| last_text(&turns).map(str::to_owned));
        let refusal = has_refused(&turns).then_some(Refusal::NobodyToAsk);
        Ok(match (end, report) {
            (Some(End::EndTurn), report) => {
                let mut report =
                    report.unwrap_or_else(|| "The task was worked on; there is no report.".to_owned());
                if refusal.is_some() {
                    report.push_str(
                        "\n\n(Some calls were not run: they need approval, and there was no user to ask.)",
                    );
                }
                Outcome { refusal, ..Outcome::text(report) }
            }
            (end, report) => {
                let error = self.runner.log.last_error(below.id).await?;
                let why = error.map(|error| format!(": {error}")).unwrap_or_default();
                let end = end.map_or("interrupted", End::as_str);
                let report = report.map(|report| format!(" Its last text:\n\n{report}"));
                let message =
                    format!("The task was not finished ({end}{why}).{}", report.unwrap_or_default());
                Outcome { refusal, ..Outcome::error(message) }
            }
        })
    }
}

/// True if a call was refused because there was no user to ask.
fn has_refused(turns: &[Turn]) -> bool {
    turns
        .iter()
        .any(|turn| matches!(turn.body, TurnBody::ToolResult { refusal: Some(Refusal::NobodyToAsk), .. }))
}

fn request(Approval { session, call, .. }: Approval) -> Note {
    Note::ApprovalRequest { session, call }
}
