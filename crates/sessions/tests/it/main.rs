//! Sessions on both engines: keeping them, running them, and who may do what meanwhile.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use testkit::samples;
use testkit::sessions::{
    answer, answered, begin, created, done, end, full, last, lease, model, note, now, open, over, plan,
    request, said, session, stock_sessions, turns, user,
};

mod approvals;
mod keeping;
mod leases;
mod listing;
mod runs;
mod survival;
