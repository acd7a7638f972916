//! Gemini.
//!
//! State of a block: `thoughtSignature`, the signature on the part itself; of a text also `after`,
//! the bytes of it that came in parts before the signed one; of a call also `id`, if it is Gemini's
//! own and not made here.

pub(crate) mod request;
pub(crate) mod stream;

#[cfg(test)]
mod tests;
