//! OpenAI chat completions, as OpenAI and all who imitate it serve them.
//!
//! State of a block: `reasoning`, the field and text of the thinking before it, which
//! some models want to see again while they use tools; and of a call `extra_content`, where some
//! gateways put a thought's signature.

pub(crate) mod request;
pub(crate) mod stream;

#[cfg(test)]
mod tests;
