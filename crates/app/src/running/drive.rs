//! Driving a run: performs the steps of the loop and records their results.

use std::sync::Arc;

use agent::{End, Step};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;

use super::SessionRunner;
use super::active_run::ActiveRun;
use super::model_calls::ModelCaller;
use super::prepare::RunProblem;
use super::record::NotStored;
use super::tool_calls::ToolCaller;
use super::{spans, unstored};

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
    pub(super) run: ActiveRun,
    pub(super) models: ModelCaller,
    pub(super) tools: ToolCaller,
    /// Noted when the run begins.
    pub(super) problems: Vec<RunProblem>,
    /// For the delegates of a stored session. A run that is not stored has none.
    pub(super) runner: Option<Arc<SessionRunner>>,
    /// Cancelled when the process ends.
    pub(super) stopping: CancellationToken,
}

impl Driver {
    fn id(&self) -> Uuid {
        self.run.record.session.id
    }

    /// Drives the run until it ends or waits.
    pub(super) async fn drive(self) -> Driven {
        let span = spans::invoke_agent(&self.run.record);
        let driven = self.drive_untraced().instrument(span.clone()).await;
        spans::end_run(&span, driven);
        driven
    }

    async fn drive_untraced(mut self) -> Driven {
        let driven = match self.run_steps().await {
            Ok(driven) => driven,
            Err(NotStored(error)) => self.end_unstored(&error).await,
        };
        let is_unwanted = self.run.record.live.stop();
        if let (Driven::Waiting, Some(runner)) = (driven, &self.runner) {
            if is_unwanted {
                // It was cancelled while it was put down.
                runner.cancel_or_warn(self.id()).await;
            } else if self.run.is_delegating() {
                // The delegate may have ended just before.
                runner.resume(self.id()).await;
            }
        }
        driven
    }

    async fn run_steps(&mut self) -> Result<Driven, NotStored> {
        let run = &mut self.run;
        run.record.note_problems(std::mem::take(&mut self.problems)).await?;
        loop {
            if run.is_cancelled() && !matches!(run.machine.step(), Step::Finished(_)) {
                let is_delegating = run.is_delegating();
                run.cancel().await?;
                if let (true, Some(runner)) = (is_delegating, &self.runner) {
                    runner.cancel_below(run.record.session.id).await;
                }
            }
            match run.machine.step() {
                Step::CallModel => self.models.call(run).await?,
                Step::RunTools => {
                    if !self.tools.call_pending(run).await? {
                        return Ok(Driven::Waiting);
                    }
                }
                Step::Finished(end) => {
                    run.finish(end).await?;
                    return Ok(Driven::Ended(end));
                }
            }
        }
    }

    /// Ends the run because an entry was not stored.
    async fn end_unstored(&mut self, error: &sessions::Error) -> Driven {
        if error.kind() != crate::ErrorKind::Conflict {
            tracing::error!(session = %self.id(), %error, "the session could not be stored");
        }
        let driven = unstored::end(&mut self.run.record, error, &self.stopping).await;
        if let (Driven::Ended(_), true, Some(runner)) = (driven, self.run.is_delegating(), &self.runner) {
            runner.cancel_below(self.id()).await;
        }
        driven
    }
}
