//! Driving a run: performs the steps of the loop and records their results.

use std::sync::Arc;

use agent::{ApprovalPolicy, End, Note, Run, Step};
use llm::ModelRef;
use sessions::{After, RunChange};
use tokio_util::sync::CancellationToken;

use super::SessionRunner;
use super::models::Models;
use super::own_tools::DELEGATE;
use super::prepare::Prepared;
use super::record::{NotStored, Record, noted};
use super::toolset::Toolset;

/// How a drive ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driven {
    Ended(End),
    /// The run waits. It is driven on when its requests are answered.
    Waiting,
    /// Another process has the session now, or may have it: the run's end could not be stored.
    Lost,
}

pub(super) struct Driver {
    pub(super) record: Record,
    pub(super) run: Run,
    pub(super) prepared: Prepared,
    pub(super) toolset: Toolset,
    pub(super) policy: ApprovalPolicy,
    pub(super) models: Arc<Models>,
    /// The model that viewers heard of last.
    pub(super) announced: Option<ModelRef>,
    /// For the delegates of a stored session. A run that is not stored has none.
    pub(super) runner: Option<Arc<SessionRunner>>,
    /// Cancelled when the process ends.
    pub(super) stopping: CancellationToken,
}

impl Driver {
    /// Drives the run until it ends or waits.
    pub(super) async fn drive(mut self) -> Driven {
        let driven = match self.run_steps().await {
            Ok(driven) => driven,
            Err(NotStored(error)) if error.kind() == crate::ErrorKind::Conflict => self.lose(&error),
            Err(NotStored(error)) => {
                tracing::error!(session = %self.record.session.id, %error, "the session could not be stored");
                self.end_unstored(&error).await
            }
        };
        let is_unwanted = self.record.stop();
        if let (Driven::Waiting, Some(runner)) = (driven, &self.runner) {
            let id = self.record.session.id;
            if is_unwanted {
                // It was cancelled while it was put down.
                runner.cancel_put_down(id).await;
            } else if self.is_delegating() {
                // The delegate may have ended just before.
                runner.resume(id).await;
            }
        }
        driven
    }

    pub(super) fn lose(&self, error: &sessions::Error) -> Driven {
        tracing::warn!(session = %self.record.session.id, %error, "another process took the session over");
        Driven::Lost
    }

    async fn run_steps(&mut self) -> Result<Driven, NotStored> {
        let problems = std::mem::take(&mut self.prepared.problems);
        self.record.note_problems(problems).await?;
        loop {
            if self.record.cancel.is_cancelled() && !matches!(self.run.step(), Step::Finished(_)) {
                let is_delegating = self.is_delegating();
                let turns = self.run.cancel();
                self.record.append_turns(turns).await?;
                if is_delegating {
                    self.cancel_below().await;
                }
            }
            match self.run.step() {
                Step::CallModel => self.call_model().await?,
                Step::RunTools => {
                    if !self.run_tools().await? {
                        return Ok(Driven::Waiting);
                    }
                }
                // The end was stored together with the last reply.
                Step::Finished(end) if self.record.is_over() => return Ok(Driven::Ended(end)),
                Step::Finished(end) => {
                    let done = vec![noted(Note::Done { stop_reason: end })];
                    let change = RunChange { then: Some(After::Idle), ..RunChange::default() };
                    self.record.append(done, change).await?;
                    return Ok(Driven::Ended(end));
                }
            }
        }
    }

    /// True while a delegated call is pending.
    pub(super) fn is_delegating(&self) -> bool {
        self.run.pending().iter().any(|pending| pending.call.name == DELEGATE)
    }

    pub(super) async fn cancel_below(&self) {
        if let Some(runner) = &self.runner {
            runner.cancel_below(self.record.session.id).await;
        }
    }
}
