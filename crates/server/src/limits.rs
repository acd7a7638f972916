//! Every bound of the server, in one place.

use std::time::Duration;

/// Connections that are open at once; further ones wait to be accepted.
pub(crate) const CONNECTIONS: usize = 1_024;
/// How long a connection may be idle, and how long the head of a request may take.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long requests may take to finish once the server stops.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long the database may take to show that it is alive.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Events kept for clients that reconnect. One that missed more reads everything again.
pub(crate) const EVENTS: usize = 1_024;
/// Streams of events that are open at once.
pub(crate) const EVENT_STREAMS: usize = 64;
/// The retry time in seconds if all streams are taken.
pub(crate) const EVENT_RETRY_AFTER_S: u64 = 5;
/// The time that a client waits before it reconnects.
pub(crate) const EVENT_RETRY: Duration = Duration::from_secs(2);
/// The longest silence of a stream. Proxies close streams that are silent for longer.
pub(crate) const EVENT_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Problems of files in one event; the rest is counted.
pub(crate) const EVENT_PROBLEMS: usize = 256;
/// Errors in files that the headers of an answer name; the rest is counted.
pub(crate) const HEADER_PROBLEMS: usize = 3;
/// Characters of each.
pub(crate) const HEADER_CHARS: usize = 200;
/// How long to wait before accepting again when the system has no room for a connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Streams of sessions that are open at once: fewer than connections, so that others are answered.
pub(crate) const SESSION_STREAMS: usize = 896;
/// Bytes of events that are sent as one piece.
pub(crate) const SESSION_PIECE_BYTES: usize = 64 * 1024;
/// Bytes of a body. The longest message fits, also with some of it escaped.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a body may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The retry time in seconds if the database is busy.
pub(crate) const BUSY_RETRY_AFTER_S: u64 = 1;
