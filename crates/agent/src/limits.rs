//! Every limit of a run, in one place.

/// Replies with tool calls in one run, where neither the persona nor the caller says otherwise.
pub const MAX_TOOL_ROUNDS: u32 = 50;
/// The most that anybody may ask for.
pub const MOST_TOOL_ROUNDS: u32 = 1_000;
/// The same batch of calls this many times in a row is a loop.
pub const REPEATED_BATCHES: u32 = 5;
/// Sessions below sessions.
pub const DELEGATION_DEPTH: u32 = 3;
/// Characters of the first message that become the title.
pub const TITLE_CHARS: usize = 80;
/// Bytes of one message of a user.
pub const MESSAGE_BYTES: usize = 1024 * 1024;
/// Bytes of a plan.
pub const PLAN_BYTES: usize = 256 * 1024;
/// Bytes of one tool's answer that reach the model; the rest is cut, and the answer says so.
pub const TOOL_OUTPUT_BYTES: usize = 64 * 1024;
/// Calls that one reply may hold; the others get an error result.
pub const CALLS_PER_REPLY: usize = 64;
/// Bytes of one reply's text.
pub const REPLY_BYTES: usize = 4 * 1024 * 1024;
