//! Times in the precision of the engines.

use chrono::{DateTime, SubsecRound as _, Utc};

/// The current time in microseconds, the precision of both engines.
pub fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}
