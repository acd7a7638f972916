//! Sessions on both engines: keeping them, running them, and who may do what meanwhile.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use testkit::samples;
use testkit::sessions::{
    answer, answered, begin, claim, created, done, end, full, last, model, note, now, open, plan, release,
    request, said, session, stock_sessions, takeover, turns, user,
};

mod approvals;
mod keeping;
mod leases;
mod listing;
mod presence;
mod runs;
mod survival;
