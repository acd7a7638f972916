//! The spans that this process sent and lost.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of this process. Set when traces start.
static COUNTS: OnceLock<Counts> = OnceLock::new();

#[derive(Debug, Default)]
pub(crate) struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
}

/// Spans so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanCounts {
    pub sent: u64,
    /// Lost, because the queue was full or the collector did not take them.
    pub dropped: u64,
}

/// The spans that this process sent and lost. `None` if it sends none.
pub fn span_counts() -> Option<SpanCounts> {
    COUNTS.get().map(Counts::read)
}

/// The counts of this process, from now on.
pub(crate) fn begin() -> &'static Counts {
    COUNTS.get_or_init(Counts::default)
}

impl Counts {
    pub(crate) fn add_sent(&self, spans: usize) {
        self.sent.fetch_add(spans as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_dropped(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }

    fn read(&self) -> SpanCounts {
        SpanCounts { sent: self.sent.load(Ordering::Relaxed), dropped: self.dropped.load(Ordering::Relaxed) }
    }
}
