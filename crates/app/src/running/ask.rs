//! One question to a model, outside of any run: a judge's.

use std::sync::Arc;

use agent::{Escalation, NextAttempt, backoff};
use futures::StreamExt as _;
use llm::{
    Failure, FailureKind, Message, ModelRef, OutputSchema, Parameter, Provider, ReplyEvent, Request,
    Sampling, System, Usage,
};
use tokio_util::sync::CancellationToken;

use super::meter::{Meter, metered};
use super::{Runtime, spans};
use crate::Result;

/// Bytes of an answer. A longer one is cut off.
const ANSWER_BYTES: usize = 256 * 1024;

/// A question without tools and without history.
#[derive(Debug, Clone)]
pub(crate) struct ModelQuestion {
    pub(crate) model: ModelRef,
    pub(crate) system: String,
    pub(crate) message: String,
    /// The form of the answer, and the seed of its sampling. Some models take neither.
    pub(crate) output: OutputSchema,
    pub(crate) seed: u32,
    /// Counts the calls, and may refuse one.
    pub(crate) meter: Option<Arc<Meter>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelAnswer {
    pub(crate) text: String,
    pub(crate) usage: Usage,
}

/// The reason why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    Cancelled,
    Failed(Failure),
}

impl Runtime {
    /// Fails if there is no such provider.
    pub(crate) async fn check_provider(&self, model: &ModelRef) -> Result<()> {
        self.runner.starter.models.provider(&model.provider).await.map(drop)
    }

    /// Asks a model once, at temperature 0 where the model takes one. Faults on the way are tried again. The
    /// call counts among those of judges.
    pub(crate) async fn ask(
        &self,
        question: ModelQuestion,
        cancel: &CancellationToken,
    ) -> std::result::Result<ModelAnswer, NoAnswer> {
        let provider = self.runner.starter.models.provider(&question.model.provider).await;
        let provider = provider
            .map_err(|error| NoAnswer::Failed(Failure::new(FailureKind::UnknownModel, error.to_string())))?;
        let provider = metered(provider, question.meter.as_ref());
        let mut escalation = Escalation::new(1, 0);
        loop {
            let asked = read(&provider, &question);
            let failure = tokio::select! {
                () = cancel.cancelled() => return Err(NoAnswer::Cancelled),
                answer = asked => match answer {
                    Ok(answer) => {
                        self.runner.starter.models.consumption.count_judge(&question.model, answer.usage);
                        return Ok(answer);
                    }
                    Err(failure) => failure,
                },
            };
            let wait = match escalation.on_failure(failure.kind, failure.retry_after) {
                NextAttempt::Retry(retry) => backoff(retry, rand::random()),
                NextAttempt::Wait(wait) => wait,
                NextAttempt::MoveOn | NextAttempt::GiveUp => return Err(NoAnswer::Failed(failure)),
            };
            tokio::select! {
                () = cancel.cancelled() => return Err(NoAnswer::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

async fn read(
    provider: &Arc<dyn Provider>,
    question: &ModelQuestion,
) -> std::result::Result<ModelAnswer, Failure> {
    let request = Request {
        model: question.model.model.clone(),
        system: System { stable: question.system.clone(), ..System::default() },
        messages: vec![Message::User { results: Vec::new(), texts: vec![question.message.clone()] }.into()],
        tools: Arc::default(),
        sampling: Sampling { temperature: Some(0.0), seed: Some(question.seed), ..Sampling::default() },
        output: Some(question.output.clone()),
        may_omit: &[Parameter::OutputSchema, Parameter::Seed, Parameter::Temperature],
    };
    let mut stream = spans::chat(&**provider, request, None);
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        match event? {
            ReplyEvent::TextDelta(delta) if text.len() < ANSWER_BYTES => text.push_str(&delta),
            ReplyEvent::Finished { usage, .. } => return Ok(ModelAnswer { text, usage }),
            _ => {}
        }
    }
    let message = format!("{} ended its answer without saying so", question.model);
    Err(Failure::new(FailureKind::Transport, message))
}
