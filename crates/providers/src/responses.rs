//! OpenAI Responses.
//!
//! State of a block: `before`, the reasoning items before it, unchanged; and `phase`, which newer models
//! put on a message and expect back.

pub(crate) mod request;
pub(crate) mod stream;

#[cfg(test)]
mod tests;
