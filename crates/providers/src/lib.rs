//! Language models behind their wire protocols.
//!
//! Turns an [`llm::Request`] into Anthropic Messages, OpenAI Responses, OpenAI chat completions or
//! Gemini, and the stream that comes back into [`llm::Event`]s. Each protocol is a pair of pure
//! conversions (`request`, `stream`) that know nothing of HTTP; one adapter sends and reads for all.
//!
//! The client is a thin one of our own: what a model library hides (the stop reason as it was sent,
//! a stream that was cut, the time after which to come back) decides what the loop does next.
//! This crate must not know personas, sessions or how failures are escalated.

mod limits;

mod settings;
pub use settings::{Kind, Settings};

mod error;
pub use error::Error;

mod registry;
pub use registry::{Found, Key, Origin, Providers};

mod local;

mod adapter;
mod call;
mod client;
mod failure;
mod models;
mod sse;
mod windows;

mod answer;
mod call_ids;
mod wire;

#[cfg(test)]
mod trial;

mod anthropic;
mod chat;
mod gemini;
mod responses;
