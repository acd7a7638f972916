//! OpenAI Responses.
//!
//! State of a block: `before`, the reasoning items that stand before it, as they came; and `phase`,
//! which newer models put on a message and want to see again.

pub(crate) mod request;
pub(crate) mod stream;

#[cfg(test)]
mod tests;
