//! Decisions of the user about a run: approvals, its plan, its end.

use agent::{ApprovalAnswer, Mode, Plan, PlanRefusal, PlanStatus};
use async_recursion::async_recursion as boxed;
use chrono::Utc;
use sessions::AnswerOutcome;
use uuid::Uuid;

use super::leases::missing;
use super::{Runtime, SessionView};
use crate::inputs::{DecidePlan, PlanVerdict};
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
            AnswerOutcome::Recorded { pending: 0, .. } => self.resume_answered(id).await?,
            AnswerOutcome::Recorded { .. } => {}
            AnswerOutcome::AlreadyAnswered(answer) => {
                // The process that stored the first answer may be gone.
                self.resume_answered(id).await?;
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

    /// Resumes a session that has its answers. One that works for a track waits for the process that pays for it.
    async fn resume_answered(&self, id: Uuid) -> Result<()> {
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        if !self.is_worked_elsewhere(&session).await? {
            self.runner.resume(id).await;
        }
        Ok(())
    }

    /// The plan that a session handed over.
    #[boxed]
    pub async fn plan(&self, id: Uuid) -> Result<Plan> {
        let plan = self.session(id).await?.session.plan;
        plan.ok_or_else(|| SessionError::NoPlan(id).into())
    }

    /// Approves the plan that has this hash, which switches to build. Fails if the user decided about it
    /// before, or if the session has another plan by now.
    #[boxed]
    pub async fn approve_plan(&self, id: Uuid, hash: &str) -> Result<SessionView> {
        self.session(id).await?;
        let check = |plan: &Plan| plan.check_approval(hash);
        match self.runner.sessions.decide_plan(id, PlanStatus::Approved, check).await? {
            None => Err(SessionError::NoPlan(id).into()),
            Some(Err(PlanRefusal::Decided(status))) => {
                Err(SessionError::PlanDecided { session: id, status }.into())
            }
            Some(Err(PlanRefusal::Changed)) => Err(SessionError::PlanChanged(id).into()),
            Some(Ok(())) => self.set_mode(id, Mode::Build).await,
        }
    }

    /// Sends the plan back, an approved one too. The session plans again.
    #[boxed]
    pub async fn send_plan_back(&self, id: Uuid) -> Result<SessionView> {
        self.plan(id).await?;
        // The mode first: a process that dies in between leaves no session that builds without a plan.
        let session = self.runner.sessions.session(id).await?.ok_or_else(|| missing(id))?;
        if session.mode != Mode::Plan {
            self.set_mode(id, Mode::Plan).await?;
        }
        match self.runner.sessions.decide_plan(id, PlanStatus::SentBack, |_| Ok(())).await? {
            Some(_) => self.session(id).await,
            None => Err(SessionError::NoPlan(id).into()),
        }
    }

    /// Approves the plan or sends it back.
    #[boxed]
    pub async fn decide_plan(&self, input: DecidePlan) -> Result<SessionView> {
        match (input.decision, input.hash) {
            (PlanVerdict::SendBack, _) => self.send_plan_back(input.id).await,
            (PlanVerdict::Approve, Some(hash)) => self.approve_plan(input.id, &hash).await,
            (PlanVerdict::Approve, None) => {
                self.plan(input.id).await?;
                Err(SessionError::NoPlanHash(input.id).into())
            }
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
