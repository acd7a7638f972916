//! Decisions of the user about a run: approvals, its plan, its end.

use agent::{ApprovalAnswer, Mode, Plan, PlanStatus};
use async_recursion::async_recursion as boxed;
use chrono::Utc;
use sessions::AnswerOutcome;
use uuid::Uuid;

use super::leases::missing;
use super::{Runtime, SessionView};
use crate::{Result, SessionError, ValueError};

/// The answer to an approval request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    pub approved: bool,
    pub reason: Option<String>,
    /// Counts for the tool until the session ends.
    pub remember: bool,
}

impl Runtime {
    /// Answers an approval request. The run resumes once no other is open.
    #[boxed]
    pub async fn decide(&self, id: Uuid, call_id: &str, decision: Decision) -> Result<SessionView> {
        let length = decision.reason.as_ref().map_or(0, String::len);
        let most = persona::limits::MESSAGE_BYTES;
        if length > most {
            return Err(ValueError::TooLong { field: "reason", most, length }.into());
        }
        let Decision { approved, reason, remember } = decision;
        let answer = ApprovalAnswer { approved, reason, remember, answered_at: Utc::now() };
        match self.runner.log.answer(id, call_id, &answer).await? {
            AnswerOutcome::Recorded { pending: 0, .. } => self.runner.resume(id).await,
            AnswerOutcome::Recorded { .. } => {}
            AnswerOutcome::AlreadyAnswered(answer) => {
                // The process that stored the first answer may be gone.
                self.runner.resume(id).await;
                let (call, approved) = (call_id.to_owned(), answer.approved);
                return Err(SessionError::Decided { session: id, call, approved }.into());
            }
            AnswerOutcome::Missing => {
                self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
                return Err(SessionError::UnknownCall { session: id, call: call_id.to_owned() }.into());
            }
        }
        self.session(id).await
    }

    /// The plan that a session handed over.
    #[boxed]
    pub async fn plan(&self, id: Uuid) -> Result<Plan> {
        let plan = self.session(id).await?.session.plan;
        plan.ok_or_else(|| SessionError::NoPlan(id).into())
    }

    /// Approves the plan, which switches to build, or sends it back.
    #[boxed]
    pub async fn decide_plan(&self, id: Uuid, approved: bool) -> Result<SessionView> {
        let status = if approved { PlanStatus::Approved } else { PlanStatus::SentBack };
        let view = self.session(id).await?;
        if view.session.plan.is_none() || !self.runner.sessions.set_plan_status(id, status).await? {
            return Err(SessionError::NoPlan(id).into());
        }
        match approved {
            true => self.set_mode(id, Mode::Build).await,
            false => self.session(id).await,
        }
    }

    /// Stops a session. Returns false if it was idle.
    #[boxed]
    pub async fn cancel(&self, id: Uuid) -> Result<bool> {
        let was_active = self.runner.cancel(id).await?;
        if was_active {
            self.runner.resume_above(id).await?;
        }
        Ok(was_active)
    }
}
