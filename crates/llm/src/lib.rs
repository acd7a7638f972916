//! Requests to language models and their streamed answers, independent of the provider.
//!
//! Types alone: no I/O, no clock. An adapter (`providers`) turns a [`Request`] into its wire
//! protocol and the answer into [`ReplyEvent`]s; the loop (`agent`) never learns which protocol it was.
//! This crate must not know personas, sessions or HTTP.

mod schema;
pub use schema::Schema;

mod request;
pub use request::{
    Block, CallBlock, CallId, Malformed, Message, OutputSchema, Parameter, ProviderState, Request, Sampling,
    System, ToolCall, ToolInput, ToolResult, ToolSpec,
};

mod shared_message;
pub use shared_message::SharedMessage;

mod stream;
pub use stream::{EventStream, ReplyEvent, StopReason, Usage};

mod price;
pub use price::{Price, Prices};

mod failure;
pub use failure::{Failure, FailureKind};

mod provider;
pub use provider::{Model, ModelRef, ModelRefError, Provider};
