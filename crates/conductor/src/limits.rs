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
/// Tokens that a cap may name.
pub const CAP_TOKENS: u64 = 1 << 52;
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
/// Actions and checks that the observer of a run remembers.
pub const OBSERVED: usize = 64;
/// Equal actions with equal results in a row that show a stuck run.
pub const SAME_ACTIONS: u32 = 4;
/// Turns of two actions, with equal results, that show a stuck run: A-B-A-B twice over.
pub const BACK_AND_FORTH: u32 = 4;
/// Errors of one tool in a row that show a stuck run.
pub const ERRORS_IN_A_ROW: u32 = 3;
/// Equal failures of one check that show a stuck run.
pub const SAME_CHECKS: u32 = 2;
/// Tokens that a run may spend without a change of its tree.
pub const TOKENS_WITHOUT_CHANGE: u64 = 200_000;
/// Seconds without an event, while no child process lives, that show a stuck run.
pub const SILENT_SECONDS: u64 = 600;
/// Attempts that a handover looks at, the last ones.
pub const HANDOVER_ATTEMPTS: usize = 32;
/// Lines of an output that a handover quotes of one attempt, the last ones.
pub const HANDOVER_LINES: usize = 30;
