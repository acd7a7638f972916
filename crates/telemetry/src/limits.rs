//! Limits of traces.

use std::time::Duration;

/// Spans that wait to be sent.
pub(crate) const QUEUE: usize = 2_048;
/// Spans of one request.
pub(crate) const BATCH: usize = 512;
/// How long a batch waits for more spans.
pub(crate) const BATCH_WAIT: Duration = Duration::from_secs(1);
/// The default time of a request.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time of a request that the environment may set.
pub(crate) const MOST_TIMEOUT: Duration = Duration::from_secs(60);
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a batch is sent if the collector is overloaded or away.
pub(crate) const TRIES: u32 = 3;
/// The pause before the second try. It doubles with each further one.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that a collector may ask for.
pub(crate) const MOST_RETRY_PAUSE: Duration = Duration::from_secs(30);
/// How long the end of a process waits for its last spans.
pub const FLUSH: Duration = Duration::from_secs(2);
/// Bytes of a text in a span. A longer one is cut.
pub(crate) const TEXT_BYTES: usize = 1_024;
/// Bytes of a variable of the environment that lists pairs.
pub(crate) const PAIRS_BYTES: usize = 64 * 1024;
