//! Every limit of a call, in one place.

use std::time::Duration;

/// Bytes of one streamed event, and of one line of it.
pub(crate) const EVENT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of one streamed answer. A text of 4 MiB in deltas of a word each is about half of it.
pub(crate) const STREAM_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes that are read of an error answer.
pub(crate) const ERROR_BYTES: usize = 64 * 1024;
/// Characters that are kept of a provider's own sentence.
pub(crate) const MESSAGE_CHARS: usize = 500;
/// Bytes of a list of models.
pub(crate) const MODELS_BYTES: usize = 4 * 1024 * 1024;
/// Models of one provider.
pub(crate) const MODELS: usize = 1_000;

/// Time limit for a connection to open.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two pieces of an answer, and before its first. A model on the machine itself may read a
/// long prompt for minutes before it says a word.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// For a whole call.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(3_600);
/// The most that any of them can be set to: a day.
pub(crate) const LONGEST_TIMEOUT_S: u64 = 86_400;
/// For a list of models.
pub(crate) const MODELS_TIMEOUT: Duration = Duration::from_secs(20);
/// For probing local models.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_millis(300);
/// Idle connections close after this time.
pub(crate) const POOL_IDLE: Duration = Duration::from_secs(90);

/// After the last event the rest of the body is read, so that the connection can be reused: this long
/// before the caller gets the event, and this long in the background.
pub(crate) const DRAIN_BEFORE: Duration = Duration::from_millis(2);
pub(crate) const DRAIN_AFTER: Duration = Duration::from_secs(2);
pub(crate) const DRAIN_BYTES: usize = 64 * 1024;

/// Output tokens if none are set; Anthropic requires a number.
pub(crate) const ANTHROPIC_MAX_TOKENS: u32 = 8_192;
/// Requests at the same time that can be configured.
pub(crate) const MOST_CONCURRENT: usize = 10_000;
/// Models of one provider whose rejected parameters are remembered. Those of others are found out again.
pub(crate) const OMITTING_MODELS: usize = 1_000;
