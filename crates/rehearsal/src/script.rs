//! A script: an ordered list of replies with their conditions.

use std::fmt;
use std::time::Duration;

use llm::StopReason;

use crate::limits;

mod pattern;
pub(crate) use pattern::Pattern;

mod template;
pub(crate) use template::{InputTemplate, Template, TemplateValues};

mod when;
pub(crate) use when::{NoTools, PromptMode, When};

mod fault;
pub(crate) use fault::{Cut, Fault, HttpError};

mod raw;

#[cfg(test)]
mod tests;

/// A script: replies and the requests they answer.
#[derive(Debug, Clone)]
pub struct Script {
    /// Rejects requests without a matching reply.
    pub(crate) strict: bool,
    /// The listed models; requests may name any.
    pub(crate) models: Vec<String>,
    pub(crate) replies: Vec<Reply>,
    /// The answer to other requests, unless the script is strict.
    pub(crate) otherwise: Reply,
}

/// One reply and its condition.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// Its line in the script.
    pub(crate) line: usize,
    pub(crate) when: When,
    pub(crate) pieces: Vec<ScriptPiece>,
    /// Derived from the answer if the author set none.
    pub(crate) stop: Option<StopReason>,
    pub(crate) usage: ScriptUsage,
    pub(crate) pace: Pace,
    /// How often it may be used. None: always.
    pub(crate) times: Option<u32>,
    pub(crate) fault: Option<Fault>,
}

#[derive(Debug, Clone)]
pub(crate) enum ScriptPiece {
    Reasoning(Template),
    Text(Template),
    Tool { name: String, id: Option<String>, input: InputTemplate },
}

/// Usage set by the author; the rest is estimated. Input includes cached tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScriptUsage {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
}

/// When tokens are sent, counted from the opening of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) first_token: Duration,
    pub(crate) token: Duration,
}

/// An error in a script, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// Counted from one; zero for the whole script.
    pub line: usize,
    pub column: usize,
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}, column {}: {}", self.column, self.message),
        }
    }
}

impl ScriptError {
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, message: message.into() }
    }

    /// An error at a byte of the script.
    pub(crate) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count() + 1;
        Self { line, column, message: message.into() }
    }
}

impl Script {
    /// Reads a script in TOML.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > limits::SCRIPT_BYTES {
            return Err(ScriptError::whole(format!(
                "the script is too long: {} bytes (at most {}); split it",
                text.len(),
                limits::SCRIPT_BYTES
            )));
        }
        raw::read(text)
    }

    /// The script that answers if no model is configured: it says so, and how to configure one.
    pub fn builtin() -> Self {
        Self::parse(include_str!("builtin.toml")).unwrap_or_else(|error| {
            // A test parses the shipped script, so this is only a safeguard.
            Self::empty(&format!(
                "This is a rehearsal: no model answered, and its script is broken ({error}). \
                 `masque doctor` says how to set a model up."
            ))
        })
    }

    /// A script that answers everything with one text.
    pub fn saying(text: &str) -> Self {
        Self::empty(text)
    }

    /// The number of replies.
    pub fn replies(&self) -> usize {
        self.replies.len()
    }

    fn empty(text: &str) -> Self {
        Self {
            strict: false,
            models: vec![raw::DEFAULT_MODEL.to_owned()],
            replies: Vec::new(),
            otherwise: Reply::plain(Template::literal(text)),
        }
    }
}

impl Reply {
    pub(crate) fn plain(text: Template) -> Self {
        Self {
            line: 0,
            when: When::default(),
            pieces: vec![ScriptPiece::Text(text)],
            stop: None,
            usage: ScriptUsage::default(),
            pace: Pace::default(),
            times: None,
            fault: None,
        }
    }
}
