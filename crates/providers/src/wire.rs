//! Code that the four protocols share.

use std::borrow::Cow;

use llm::{Failure, FailureKind, ProviderState};
use serde::Deserialize;
use serde_json::Value;

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
