//! All limits of tests, in one place.

/// Bytes of a compiled regular expression.
pub const PATTERN_BYTES: usize = 1024 * 1024;
/// Bytes of a reply that checks look at. The rest is not checked.
pub const REPLY_BYTES: usize = 512 * 1024;
/// Bytes of the earlier conversation that a judge sees, the newest first.
pub const CONTEXT_BYTES: usize = 64 * 1024;
/// Bytes of a judge's answer.
pub const ANSWER_BYTES: usize = 64 * 1024;
/// Characters of evidence that a result keeps.
pub const EVIDENCE_CHARS: usize = 1_000;
/// Characters of a reason that a result keeps.
pub const REASON_CHARS: usize = 1_000;
/// Characters of a name that is made from a check.
pub const NAME_CHARS: usize = 120;
/// Times that a judge is asked for one vote.
pub const ATTEMPTS: u32 = 2;
/// Fewer inputs never give a statistical verdict.
pub const LEAST_INPUTS: usize = 5;
/// Tokens of a reply, where nobody knows better.
pub const REPLY_TOKENS: u64 = 300;
