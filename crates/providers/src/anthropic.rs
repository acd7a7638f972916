//! Anthropic Messages.
//!
//! State of a block: the thinking blocks before it, unchanged.

pub(crate) mod request;
pub(crate) mod stream;

#[cfg(test)]
mod tests;

pub(crate) const VERSION: &str = "2023-06-01";
