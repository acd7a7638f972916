//! A tool's invocation and its outcome.

use std::fmt;

use agent::{Annotations, Concern, Note, Refusal, Refused, ToolCall};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::limits;

/// The result of a call. A failure is text too: the model reads it and tries something else.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub text: String,
    pub is_error: bool,
    /// Why the tool did not run to its end.
    pub refusal: Option<Refusal>,
    /// Events beside the text. They are stored with the result.
    pub events: Vec<Value>,
    pub effect: Option<RunEffect>,
}

/// The effect of a call on its run, in addition to its result.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEffect {
    /// Hands a plan to the user. The run ends after the calls of the same reply.
    HandOver { plan: String },
    /// The call has no result yet. The run waits, shows these requests, and makes the call again when
    /// it resumes.
    Wait(Vec<Note>),
}

impl Outcome {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }

    pub fn refused(refusal: Refusal, text: impl Into<String>) -> Self {
        Self { refusal: Some(refusal), ..Self::error(text) }
    }

    pub fn wait(requests: Vec<Note>) -> Self {
        Self { effect: Some(RunEffect::Wait(requests)), ..Self::default() }
    }
}

impl From<Refused> for Outcome {
    fn from(Refused { refusal, message }: Refused) -> Self {
        Self::refused(refusal, message)
    }
}

/// One call of a tool by a model.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    pub call: ToolCall,
    /// Cancelled when the result is no longer needed. A handler may also simply be dropped.
    pub cancelled: CancellationToken,
    /// For events during the call.
    pub events: EventSender,
    /// The user's consent to this very call.
    pub consent: Consent,
}

/// The user's consent to a call that a tool is concerned about; see [`Handler::concerns`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Consent {
    #[default]
    Missing,
    Given,
}

impl Invocation {
    /// Sends an event to the run's viewers while the call runs. Unlike [`Outcome::events`] it is not
    /// stored.
    pub fn report(&self, event: Value) {
        self.events.send(&self.call.id, event);
    }
}

/// An event that a call sent while it ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEvent {
    pub call_id: String,
    pub event: Value,
}

/// Sends the events of calls to the run. Drops events without a receiver and, above
/// [`limits::WAITING_EVENTS`], those that are not received in time.
#[derive(Debug, Clone, Default)]
pub struct EventSender(Option<mpsc::Sender<ToolEvent>>);

impl EventSender {
    pub fn channel() -> (Self, mpsc::Receiver<ToolEvent>) {
        let (sender, receiver) = mpsc::channel(limits::WAITING_EVENTS);
        (Self(Some(sender)), receiver)
    }

    pub fn send(&self, call_id: &str, event: Value) {
        if let Some(sender) = &self.0 {
            let _ = sender.try_send(ToolEvent { call_id: call_id.to_owned(), event });
        }
    }
}

/// Runs a tool. The input has passed the tool's schema. Whatever the future holds must be released
/// when it is dropped.
pub trait Handler: fmt::Debug + Send + Sync {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome>;

    /// The reasons to ask the user about this very call.
    fn concerns(&self, _call: &ToolCall) -> Vec<Concern> {
        Vec::new()
    }

    /// The tool's hints now, if they can change.
    fn hints(&self) -> BoxFuture<'_, Option<Annotations>> {
        Box::pin(std::future::ready(None))
    }
}
