//! Tickets in git: worktrees, checks in fresh checkouts, integration, checkpoints, removal with proof.
//!
//! Runs the user's `git` and the track's commands, and reports facts. It decides nothing about tickets:
//! it must not know states, sessions, models or the database. Leases and ends of tickets are handed in.
//!
//! Two promises hold everywhere. The user's checkout, index, uncommitted and untracked files are never
//! written, except by [`Worktrees::finish`]. And each operation can be repeated after its process was
//! killed between any two steps, with the same end.

pub mod limits;

mod error;
pub use error::{Error, LEAST_GIT, Result};

mod label;
pub use label::Label;

mod commit;
pub use commit::CommitId;

mod process;

mod command;
pub use command::{Beat, CheckOutcome, Command, Exit, TestCounts, Variables, Watcher};

mod git;
pub use git::GitProgram;

mod lock;

mod refs;

mod repository;
pub use repository::{Head, Repository};

mod places;
pub use places::Worktrees;

mod tree;
pub use tree::Tree;

mod overlooked;

mod create;
pub use create::{Opened, Worktree};

mod submodules;

mod nested;

mod ports;

mod setup;
pub use setup::{Setup, SetupOutcome, SkipReason, Skipped};

mod checkpoint;
pub use checkpoint::Checkpoint;

mod commit_all;

mod archive;

mod lost;

mod changes;

mod inspect;
pub use inspect::{Change, ChangeKind, Facts, TestFacts, TestTally};

mod diff;
pub use diff::{Diff, DiffLimits, FileStat};

mod checkout;
pub use checkout::Checkout;

mod verify;
pub use verify::{Check, TestsFrom, Verified};

mod preflight;
pub use preflight::{Conflict, Preflight, Side};

mod replay;

mod integrate;
pub use integrate::{Integrated, Integration, Ticket};

mod onto;
pub use onto::Onto;

mod finish;
pub use finish::{Finished, Obstacle};

mod clean;
pub use clean::{Cleaned, KeptReason, Lease, Removal, RemovalAction, TicketStanding};
