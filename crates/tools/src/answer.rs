//! What a handler is given, and what it gives back.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// What came of a call. A failure is text too: the model reads it and tries something else.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub is_error: bool,
    /// What a tool says besides its text; games need it.
    pub events: Vec<Value>,
}

impl Answer {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, events: Vec::new() }
    }
}

/// One call of a tool by a model.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The call's `tool_use_id`.
    pub id: String,
    pub input: Map<String, Value>,
    /// Cancelled when nobody waits for the answer any more. A handler may also simply be dropped.
    pub cancelled: CancellationToken,
}

/// What [`Handler::call`] returns.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Runs a tool. Its input has passed the tool's schema; whatever it holds on to must be given back
/// when the future is dropped.
pub trait Handler: fmt::Debug + Send + Sync {
    fn call<'a>(&'a self, call: Call) -> Reply<'a>;
}
