//! Sessions: what is known of each, its log, who runs it, and what waits for somebody's permission.
//!
//! A session's row is the lock of all that belongs to it: every change updates or locks that row
//! before it touches anything else. `last_seq` stands there and only ever counts up, so a place in
//! a log is never used twice, not even after what stood there was taken back.

use agent::{PlanStatus, SessionStatus};

mod append;
pub use append::{After, Appended, RunChange};

mod approvals;
pub use approvals::Answered;

mod file;
pub(crate) use file::{SessionFile, collect, prepare};

mod log;
use log::Row;

mod prefix;
pub use prefix::IdPrefix;

mod read;
pub use read::{Parent, SessionFilter, SessionPage};

mod runs;
pub use runs::{Began, Control, Lease, Started};

mod work;
use work::{Spelled, Statement, Work};

mod write;

/// Bytes of one entry of a log, as it is kept.
const ENTRY_BYTES: usize = 8 * 1024 * 1024;
/// Entries of a log that are read at once.
const LOG_PAGE: usize = 1_000;
/// Tokens that a call is believed to have used, so that no sum grows past what a column holds.
const CALL_TOKENS: u64 = 1 << 40;
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
