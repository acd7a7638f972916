//! Tracks in a database: their logs, claims, fences and costs.
//!
//! A track's row is the lock of its log: every append locks that row first. The row of a claim is the lock of
//! a ticket: each claim counts its token up, and a write under an earlier token fails. The row of an account
//! is the lock of its sum, so that calls at the same time never exceed a cap together.
//!
//! This crate must not know what an event means, nor decide what a worker does next.

use std::time::Duration;

use database::Engine;

mod error;
pub use error::{Error, Result};

mod read;
pub use read::{StoredTrack, TrackPage, TrackRow};

mod write;
pub use write::NewTrack;

mod log;
pub use log::{Append, Appended};

mod claims;
pub use claims::{Claim, ClaimSighting, Claimed, Fence, Holder};

mod presence;

mod costs;
pub use costs::{CallState, OpenReservation, Reservation, Reserved};

mod accounts;
pub use accounts::{Accounts, Balance};

mod changes;
pub use changes::Changes;

mod work;
use work::Work;

/// The tracks of a database; clones share them.
#[derive(Debug, Clone)]
pub struct Tracks(Engine);

impl Tracks {
    /// The tracks in an open database with the current schema.
    pub const fn new(engine: Engine) -> Self {
        Self(engine)
    }

    fn engine(&self) -> &Engine {
        &self.0
    }
}

/// How long a claim stays with a process that does not renew it, by the clock of PostgreSQL.
pub const LEASE: Duration = Duration::from_secs(4);

/// Bytes of one event, as it is kept.
pub const EVENT_BYTES: usize = 4 * 1024 * 1024;
/// Events that are appended at once.
pub const APPENDED: usize = 1_000;
/// Events that are read at once.
pub const LOG_PAGE: usize = 1_000;
/// Bytes of events that are read at once. A single event may be longer.
pub const LOG_PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a definition, as it is kept.
pub const DEFINITION_BYTES: usize = 2 * conductor::limits::TRACK_BYTES;
/// Bytes of a title.
const TITLE_BYTES: usize = 4 * conductor::limits::TITLE_CHARS;
/// Bytes of the path of a project.
const PROJECT_BYTES: usize = 4 * 1024;
/// Ids that a search returns.
const FOUND: usize = 100;
/// Open reservations in one answer.
const OPEN_RESERVATIONS: usize = 1_000;
/// Tokens that a call is believed to use, so that no sum grows past what a column holds.
const CALL_TOKENS: u64 = 1 << 40;
/// The same for money, in millionths.
const CALL_MICROS: u64 = 1 << 40;
/// Rows that are written with one statement.
const ROWS: usize = 16;

/// A number as the engines hold it.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
