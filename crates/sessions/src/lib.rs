//! Sessions: their rows, logs, leases and approval requests.
//!
//! A session's row is the lock of everything that belongs to it: every change updates or locks that row
//! first. The row has `last_seq`, which only counts up, so a place in a log is never used twice, even after
//! its entry was taken back.
//!
//! This crate must not know of personas beyond their names, nor decide what a run does next.

use agent::{PlanStatus, SessionStatus};
use database::{BuiltStatement, Engine, Statement};

mod error;
pub use error::{Error, Result};

mod append;
pub use append::{AfterRun, Appended, RunChange};

mod approvals;
pub use approvals::AnswerOutcome;

mod leases;
pub use leases::{Claim, Control, SeenSession};

mod log;
use log::Row;

mod prefix;
pub use prefix::IdPrefix;

mod presence;
mod suffix;
pub use suffix::IdSuffix;

mod read;
pub use read::{Parent, SessionCounts, SessionFilter, SessionPage};

mod runs;
pub use runs::{BeginOutcome, Started};

mod work;
use work::Work;

mod write;

/// The sessions of a library; clones share them.
#[derive(Debug, Clone)]
pub struct Sessions(Engine);

impl Sessions {
    /// The sessions in an open database with the current schema.
    pub const fn new(engine: Engine) -> Self {
        Self(engine)
    }

    fn engine(&self) -> &Engine {
        &self.0
    }
}

/// Bytes of one entry of a log, as it is kept.
const ENTRY_BYTES: usize = 8 * 1024 * 1024;
/// Entries of a log that are read at once.
const LOG_PAGE: usize = 1_000;
/// Tokens that a call is believed to have used, so that no sum grows past what a column holds.
const CALL_TOKENS: u64 = 1 << 40;
/// Billionths of a cost in one.
const NANOS: f64 = 1_000_000_000.0;
/// Rows that are written with one statement.
const ROWS: usize = 16;

pub(crate) const fn status_word(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "idle",
        SessionStatus::Running => "running",
        SessionStatus::Waiting => "waiting",
    }
}

const fn plan_word(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Proposed => "proposed",
        PlanStatus::Approved => "approved",
        PlanStatus::SentBack => "sent_back",
    }
}
