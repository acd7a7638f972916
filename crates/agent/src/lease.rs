//! Leases: when a process may take the session that another one runs.
//!
//! The holder of a lease counts its beat up every [`limits::HEARTBEAT`]. An observer takes the lease once it
//! has seen the same beat for [`limits::LEASE`] on its own monotonic clock. No time of one process is ever
//! compared with that of another one, so clocks may differ, jump and stop.

use std::collections::HashMap;
use std::time::Duration;

use uuid::Uuid;

use crate::limits;

/// A lease as an observer reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// Counts up whenever the lease is taken or renewed. It never repeats.
    pub beat: i64,
    /// The storage knows that the lease is over, because the holder's process is gone.
    pub is_over: bool,
    /// No process can write at the moment, so the holder cannot renew.
    pub is_blocked: bool,
}

/// An observer's knowledge of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseVerdict {
    /// The holder renewed the lease between two looks.
    Live,
    /// Not observed for long enough.
    Unknown,
    /// The holder is gone: the lease with this beat may be taken.
    Over,
}

/// The leases that one process observes.
#[derive(Debug, Default)]
pub struct LeaseObserver(HashMap<Uuid, Observation>);

#[derive(Debug, Clone, Copy)]
struct Observation {
    beat: i64,
    last_look: Duration,
    /// The observed time without a renewal.
    unchanged_for: Duration,
}

impl LeaseObserver {
    /// Looks at the lease of a session. `now` is the observer's monotonic time since any moment.
    pub fn look(&mut self, session: Uuid, seen: Sighting, now: Duration) -> LeaseVerdict {
        if seen.is_over {
            self.0.remove(&session);
            return LeaseVerdict::Over;
        }
        let fresh = Observation { beat: seen.beat, last_look: now, unchanged_for: Duration::ZERO };
        // A renewal shows that the holder lives only if the observer has just looked before.
        self.0.retain(|_, seen| now.saturating_sub(seen.last_look) < limits::LEASE);
        let Some(before) = self.0.insert(session, fresh) else { return LeaseVerdict::Unknown };
        if before.beat != seen.beat {
            return LeaseVerdict::Live;
        }
        // A longer gap may mean that both processes were paused, and the holder had no time to renew.
        let gap = now.saturating_sub(before.last_look).min(limits::LONGEST_LOOK);
        let counted = if seen.is_blocked { Duration::ZERO } else { gap };
        let unchanged_for = before.unchanged_for + counted;
        self.0.insert(session, Observation { unchanged_for, ..fresh });
        if unchanged_for >= limits::LEASE && !seen.is_blocked {
            LeaseVerdict::Over
        } else {
            LeaseVerdict::Unknown
        }
    }
}

#[cfg(test)]
mod tests;
