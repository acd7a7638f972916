//! Every limit of a run, in one place.

/// Replies with tool calls in one run, unless the persona or the caller sets a limit.
pub const MAX_TOOL_ROUNDS: u32 = 50;
/// The largest limit that can be set.
pub const MOST_TOOL_ROUNDS: u32 = 1_000;
/// Repetitions of a batch of calls that count as a loop.
pub const REPEATED_BATCHES: u32 = 5;
/// Levels of delegates below a session.
pub const DELEGATION_DEPTH: u32 = 3;
/// Characters of a title, which is the beginning of the first message.
pub const TITLE_CHARS: usize = 80;
/// Bytes of a user's message.
pub const MESSAGE_BYTES: usize = 1024 * 1024;
/// Bytes of a plan.
pub const PLAN_BYTES: usize = 256 * 1024;
/// Bytes of a tool's output that reach the model. The rest is cut, with a note.
pub const TOOL_OUTPUT_BYTES: usize = 64 * 1024;
/// Calls in one reply. The others are refused.
pub const CALLS_PER_REPLY: usize = 64;
/// Bytes of one reply's text.
pub const REPLY_BYTES: usize = 4 * 1024 * 1024;
