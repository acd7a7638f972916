//! A streamed answer.

use std::ops::AddAssign;
use std::pin::Pin;

use futures_core::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallBlock, Failure, ProviderState};

/// An answer as it arrives. It ends after [`ReplyEvent::Finished`] or the first failure; a stream that
/// ends without either was cut, and the adapter says so with a failure.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<ReplyEvent, Failure>> + Send>>;

#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEvent {
    /// The first event: the provider accepted the request. It may come once more if the id arrives within
    /// the answer.
    Started { request_id: Option<String> },
    /// More of a text.
    TextDelta(String),
    /// The text of the deltas since the last text or call is complete. Not sent for an empty text without
    /// state.
    TextEnd { state: Option<ProviderState> },
    /// Thinking that the provider shows.
    ReasoningDelta(String),
    /// A whole call.
    ToolCall(CallBlock),
    /// The last event, with the model as the provider names it.
    Finished { stop: StopReason, usage: Usage, model: Option<String> },
}

/// The reason why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
    /// The provider paused and expects another call with its answer so far.
    Pause,
}

/// Tokens of one call. Input counts everything that was read, cached or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    #[serde(alias = "input_tokens")]
    pub input_tokens: u64,
    #[serde(alias = "output_tokens")]
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache.
    #[serde(alias = "cache_read_tokens")]
    pub cache_read_tokens: u64,
    /// Of the input: written into the provider's cache.
    #[serde(alias = "cache_write_tokens")]
    pub cache_write_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}
