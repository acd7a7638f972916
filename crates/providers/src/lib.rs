//! Language models behind their wire protocols.
//!
//! Turns an [`llm::Request`] into Anthropic Messages, OpenAI Responses, OpenAI chat completions or
//! Gemini, and the stream that comes back into [`llm::ReplyEvent`]s. Each protocol is a pair of pure
//! conversions (`request`, `stream`) that know nothing of HTTP; one adapter sends and reads for all.
//!
//! The client is our own and thin: model libraries hide facts that the loop needs (the original stop
//! reason, a cut stream, the retry time).
//! This crate must not know personas, sessions or how failures are escalated.

mod limits;

mod settings;
pub use settings::{Kind, ProviderSettings};

mod error;
pub use error::Error;

mod registry;
pub use registry::{Key, Origin, ProviderInfo, Providers};

mod local;

mod adapter;
mod call;
mod client;
mod failure;
mod models;
mod omission;
mod sse;
mod windows;

mod call_ids;
mod reply_events;
mod wire;

#[cfg(test)]
mod trial;

mod anthropic;
mod chat;
mod gemini;
mod responses;
