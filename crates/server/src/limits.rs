//! Every bound of the server, in one place.

use std::time::Duration;

/// Connections that are open at once; further ones wait to be accepted.
pub(crate) const CONNECTIONS: usize = 1_024;
/// How long a connection may be idle, and how long the head of a request may take.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long requests may take to finish once the server was told to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long the database may take to show that it is alive.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Events that are kept for clients that come back; one that missed more looks at everything.
pub(crate) const EVENTS: usize = 1_024;
/// Streams of events that are open at once.
pub(crate) const EVENT_STREAMS: usize = 64;
/// How long to wait before asking again for a stream, in seconds, when all are taken.
pub(crate) const EVENT_RETRY_AFTER_S: u64 = 5;
/// How long a client whose stream ended is asked to wait before it comes back.
pub(crate) const EVENT_RETRY: Duration = Duration::from_secs(2);
/// How long a stream is silent at most, so that nobody in between takes it for dead.
pub(crate) const EVENT_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Problems of files in one event; the rest is counted.
pub(crate) const EVENT_PROBLEMS: usize = 256;
/// Mistakes in files that the headers of an answer name; the rest is counted.
pub(crate) const HEADER_PROBLEMS: usize = 3;
/// Characters of each.
pub(crate) const HEADER_CHARS: usize = 200;
/// How long to wait before accepting again when the system has no room for a connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Streams of sessions that are open at once: fewer than connections, so that others are answered.
pub(crate) const SESSION_STREAMS: usize = 896;
/// Bytes of events that are sent as one piece; what is ready beyond that is the next one.
pub(crate) const SESSION_PIECE_BYTES: usize = 64 * 1024;
/// Bytes of a body. The longest message fits, also with some of it escaped.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a body may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait before asking again, in seconds, when the database is busy.
pub(crate) const BUSY_RETRY_AFTER_S: u64 = 1;
