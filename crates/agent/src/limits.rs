//! Every limit of a run, in one place.

use std::time::Duration;

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
/// How long a session stays with a process that does not renew its lease.
pub const LEASE: Duration = Duration::from_secs(4);
/// How often a process renews its leases.
pub const HEARTBEAT: Duration = Duration::from_secs(1);
/// How much of the time between two looks at a lease counts as observed.
pub const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// The pause between two looks of a process that waits for the end of a lease.
pub const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long a message or a change waits for the end of another process's lease before it fails as busy: the
/// time to observe a delegate and then its session, with slow looks.
pub const LEASE_PATIENCE: Duration = Duration::from_secs(15);
