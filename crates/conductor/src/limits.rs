//! All limits of tracks, in one place.

/// Bytes of a track file.
pub const TRACK_BYTES: usize = 16 * 1024 * 1024;
/// Tickets of a track, those that were added on the way included.
pub const TICKETS: usize = 20_000;
/// Tickets that one ticket depends on.
pub const DEPENDENCIES: usize = 256;
/// Context files of a ticket.
pub const FILES: usize = 256;
/// Globs of a scope, and ignored files that a setup copies.
pub const GLOBS: usize = 256;
/// Acceptance criteria of a ticket.
pub const CRITERIA: usize = 64;
/// Characters of a title.
pub const TITLE_CHARS: usize = 200;
/// Bytes of a goal, a description or a criterion.
pub const TEXT_BYTES: usize = 64 * 1024;
/// Bytes of a command, a path, a glob, a branch or a model.
pub const WORD_BYTES: usize = 4 * 1024;
/// Tickets that are worked at once.
pub const CONCURRENCY: usize = 256;
/// Seconds that a setup may take.
pub const SETUP_SECONDS: u64 = 24 * 60 * 60;
/// Rounds of a review, and steps of any kind that a policy may name.
pub const ROUNDS: u32 = 100;
/// Problems that are reported of one track file. The rest is counted.
pub const PROBLEMS: usize = 100;
/// Levels of nesting in a track file.
pub const NESTING: usize = 32;

/// Entries of any list in a submission or a review.
pub const REPORT_ENTRIES: usize = 128;
/// Bytes of any text in a submission or a review.
pub const REPORT_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of a check's output that the log keeps, the end of it.
pub const OUTPUT_BYTES: usize = 16 * 1024;
/// Bytes of a question, an answer or a reason.
pub const MESSAGE_BYTES: usize = 16 * 1024;
/// Paths that a record of a conflict or a piece of evidence names.
pub const PATHS: usize = 100;

/// Tickets that one ticket is split into.
pub const SPLIT: usize = 12;
/// Times that a ticket, or a part of it, is split.
pub const SPLIT_DEPTH: u32 = 1;
/// Questions that a worker may ask in one attempt.
pub const QUESTIONS: u32 = 20;
/// Tokens of a handover.
pub const HANDOVER_TOKENS: usize = 1_500;
/// Actions that the observer of a run remembers.
pub const OBSERVED: usize = 64;
