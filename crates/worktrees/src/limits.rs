//! All limits of this crate, in one place.

use std::time::Duration;

/// Time for a git command that only reads or writes objects and refs.
pub const GIT_TIME: Duration = Duration::from_secs(120);
/// Time for a git command that writes a working tree.
pub const CHECKOUT_TIME: Duration = Duration::from_secs(1_800);
/// Bytes that a git command may print.
pub const GIT_OUTPUT_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of what a failed git command wrote.
pub const GIT_WORDS_BYTES: usize = 4 * 1024;
/// Bytes at the end of a command's output that an outcome keeps.
pub const TAIL_BYTES: usize = 64 * 1024;
/// Bytes of a command's output that its log keeps.
pub const LOG_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of one line that are searched for counts of tests.
pub const LINE_BYTES: usize = 4 * 1024;
/// The pause between two beats of a running command.
pub const BEAT: Duration = Duration::from_secs(5);
/// Time to read the rest of a command's output after its end.
pub const DRAIN_TIME: Duration = Duration::from_secs(1);
/// Rounds of killing what a command left running.
pub const KILL_ROUNDS: usize = 20;
/// The pause between such rounds.
pub const KILL_PAUSE: Duration = Duration::from_millis(5);
/// The longest command line of a check or a setup, in bytes.
pub const COMMAND_BYTES: usize = 16 * 1024;
/// Time to wait for another process that works in the same place.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(20);
/// The pause between two tries of a lock.
pub const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// Tries of a commit whose branch others move meanwhile.
pub const COMMIT_TRIES: usize = 5;
/// The age at which a lock file of git has no process any more.
pub const STALE_LOCK: Duration = Duration::from_secs(120);
/// Characters in a label of a track or a ticket.
pub const LABEL_CHARS: usize = 64;
/// Depth of submodules in submodules.
pub const SUBMODULE_DEPTH: usize = 5;
/// Patterns of files to copy, of protected files, and of a ticket's scope.
pub const PATTERNS: usize = 256;
/// Files that one setup copies.
pub const COPIED_FILES: usize = 20_000;
/// Bytes that one setup copies.
pub const COPIED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of an untracked file in a checkpoint.
pub const UNTRACKED_BYTES: u64 = 256 * 1024 * 1024;
/// Ports of one worktree.
pub const PORTS: usize = 16;
/// The first port that a worktree may lease.
pub const FIRST_PORT: u16 = 21_000;
/// The number of ports that all worktrees share.
pub const PORT_RANGE: u16 = 8_000;
/// Changed paths that facts list.
pub const LISTED_PATHS: usize = 10_000;
/// Bytes of a patch that are looked at. Files behind them are listed without their text.
pub const PATCH_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of files that one git command reads.
pub const BATCH_BYTES: u64 = 32 * 1024 * 1024;
/// Names of tests that facts list.
pub const LISTED_TESTS: usize = 200;
/// Bytes of a file that is searched for tests.
pub const TEST_FILE_BYTES: u64 = 1024 * 1024;
/// Bytes of each side of a conflict.
pub const SIDE_BYTES: usize = 16 * 1024;
/// Conflicted paths whose sides are read.
pub const CONFLICTS: usize = 100;
/// Commits that one integration moves.
pub const REBASED_COMMITS: usize = 2_000;
/// Commits that only a reflog has, in one archive.
pub const ARCHIVED_COMMITS: usize = 1_000;
/// Tries to move an integration branch that another process moves, too.
pub const INTEGRATION_TRIES: usize = 5;
/// The age at which a green check is forgotten.
pub const CHECK_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// The age at which a temporary file has no process any more.
pub const TEMP_AGE: Duration = Duration::from_secs(24 * 3_600);
/// Lines around a conflict that are shown with it.
pub const CONFLICT_CONTEXT: usize = 3;
/// Tries to write a reference that a dead process left locked.
pub const REF_TRIES: usize = 3;
