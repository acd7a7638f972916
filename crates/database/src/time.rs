//! Times as the engines keep them.

use chrono::{DateTime, SubsecRound as _, Utc};

/// The current time in microseconds, the precision of both engines.
pub fn now() -> DateTime<Utc> {
    Utc::now().trunc_subsecs(6)
}
