//! Patterns: a text contains a string or matches a regular expression.

use regex::{Regex, RegexBuilder};

use crate::limits;

/// `text` is found anywhere, as it is written; `/text/` is a regular expression.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    Contains(String),
    Regex(Regex),
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > limits::PATTERN_BYTES {
            return Err(format!("a pattern has at most {} bytes", limits::PATTERN_BYTES));
        }
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let Some(inner) = inner.filter(|inner| !inner.is_empty()) else {
            return Ok(Self::Contains(text.to_owned()));
        };
        let built = RegexBuilder::new(inner).size_limit(limits::REGEX_BYTES).build();
        built.map(Self::Regex).map_err(|error| format!("invalid regular expression {inner:?}: {error}"))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.contains(part),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}
