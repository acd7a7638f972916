//! Code that the four protocols share.

use std::borrow::Cow;
use std::sync::Arc;

use llm::{Failure, FailureKind, ProviderState, SharedMessage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::reply_events::ReplyEvents;
use crate::sse;

/// The provider settings that a request depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    /// The configured name: state goes back only to its own provider.
    pub(crate) provider: &'a str,
    /// Served by the protocol's inventor, who accepts more than imitators.
    pub(crate) official: bool,
    /// True requests reasoning; `None` lets the model decide.
    pub(crate) reasoning_items: Option<bool>,
    /// The default if the request sets none.
    pub(crate) max_output_tokens: Option<u32>,
}

impl Target<'_> {
    /// The state, if it is this provider's.
    pub(crate) fn own<'s>(&self, state: Option<&'s ProviderState>) -> Option<&'s Value> {
        state.filter(|state| state.provider == self.provider).map(|state| &state.data)
    }
}

/// An element of a request's list of messages.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Element<'a, T> {
    New(T),
    /// Written for an earlier request.
    Kept(&'a RawValue),
}

/// Adds the elements of a message that later requests send again in the same words. They are written once
/// in each form, which names everything beside the conversation that they depend on.
pub(crate) fn push_kept<'a, T: Serialize>(
    elements: &mut Vec<Element<'a, T>>,
    message: &'a SharedMessage,
    form: &Arc<str>,
    write: impl Fn() -> Result<Vec<T>, Failure>,
) -> Result<(), Failure> {
    let kept = message.written(form, || write()?.iter().map(to_raw).collect::<Result<_, Failure>>())?;
    match kept {
        Some(kept) => elements.extend(kept.iter().map(|value| Element::Kept(value))),
        None => elements.extend(write()?.into_iter().map(Element::New)),
    }
    Ok(())
}

fn to_raw(value: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(|error| unwritable(&error))
}

/// The failure of a request that cannot be written as JSON.
pub(crate) fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(FailureKind::Rejected, format!("the request cannot be written: {error}"))
}

/// Takes an answer apart, event by event.
pub(crate) trait Decode: Send + Sync {
    fn answer(&mut self) -> &mut ReplyEvents;

    /// Takes one event of the wire. Unknown ones are ignored.
    fn event(&mut self, event: sse::SseEvent<'_>) -> Result<(), Failure>;

    /// Handles the regular end of the body. An incomplete answer was cut.
    fn end(&mut self) -> Result<(), Failure> {
        Err(cut())
    }
}

pub(crate) fn cut() -> Failure {
    Failure::new(FailureKind::Transport, "the stream broke off before the answer was complete")
}

/// Reads the JSON of an event. Fails if it was cut or garbled on the way.
pub(crate) fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, Failure> {
    serde_json::from_str(data).map_err(|error| {
        let problem = error.classify();
        Failure::new(
            FailureKind::Transport,
            format!("the stream broke off: an event could not be read ({problem:?} error in its JSON)"),
        )
    })
}

/// The type of an event: its own field, or else the SSE event name.
pub(crate) fn kind_of(event: sse::SseEvent<'_>) -> Result<Cow<'_, str>, Failure> {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, rename = "type", default)]
        kind: Cow<'a, str>,
    }
    let Kind { kind } = read(event.data)?;
    Ok(if kind.is_empty() { Cow::Borrowed(event.name) } else { kind })
}

#[cfg(test)]
mod tests;
