//! The number of connections that the system has descriptors for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits::{
    CONNECTIONS, DESCRIPTORS, DESCRIPTORS_PER_CONNECTION, EVENT_STREAMS, LEAST_CONNECTIONS,
    RESERVED_DESCRIPTORS,
};

/// The connections and streams that may be open at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) connections: usize,
    /// Together with those of events fewer than connections, so that other requests are answered.
    pub(crate) session_streams: usize,
    pub(crate) event_streams: usize,
}

impl Capacity {
    /// Raises the process's limit of descriptors as far as the system allows, then fits into it.
    pub(crate) fn of_process() -> Self {
        Self::within(raise())
    }

    fn within(descriptors: u64) -> Self {
        let free = descriptors.saturating_sub(RESERVED_DESCRIPTORS) / DESCRIPTORS_PER_CONNECTION;
        let free = usize::try_from(free).unwrap_or(usize::MAX);
        let connections = free.clamp(LEAST_CONNECTIONS, CONNECTIONS);
        let event_streams = (connections / 4).clamp(1, EVENT_STREAMS);
        let others = (connections / 16).max(1);
        Self { connections, session_streams: connections - event_streams - others, event_streams }
    }
}

/// Raises the soft limit to the hard one, or to the most that the server uses. Returns the limit in
/// force.
fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Absent means unlimited.
    let current = current.unwrap_or(DESCRIPTORS);
    let wanted = maximum.unwrap_or(DESCRIPTORS).min(DESCRIPTORS);
    if wanted <= current {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files stays at {current}");
            current
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(descriptors: u64, connections: usize, session_streams: usize, event_streams: usize) {
        let expected = Capacity { connections, session_streams, event_streams };
        assert_eq!(Capacity::within(descriptors), expected, "{descriptors}");
    }

    #[test]
    fn connections_fit_into_the_descriptors() {
        check(1_048_576, 2_048, 1_408, 512);
        check(4_096, 1_984, 1_364, 496);
        check(1_024, 448, 308, 112);
        check(200, 36, 25, 9);
        check(64, 8, 5, 2);
    }

    #[test]
    fn the_limit_is_raised() {
        let limit = raise();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current.unwrap_or(DESCRIPTORS), limit);
        assert!(limit >= maximum.unwrap_or(DESCRIPTORS).min(DESCRIPTORS), "{limit} of {maximum:?}");
    }
}
