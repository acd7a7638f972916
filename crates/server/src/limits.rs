//! Every bound of the server, in one place.

use std::time::Duration;

/// Connections that are open at once, if the system has descriptors for them.
pub(crate) const CONNECTIONS: usize = 2_048;
/// Connections that are open at once on any system.
pub(crate) const LEAST_CONNECTIONS: usize = 8;
/// The descriptors that the process asks the system for. More would only slow down programs that
/// close all descriptors when they start.
pub(crate) const DESCRIPTORS: u64 = 65_536;
/// Descriptors kept back for the database, files, tools, and connections that are refused.
pub(crate) const RESERVED_DESCRIPTORS: u64 = 128;
/// A connection, and the one to the model that answers over it.
pub(crate) const DESCRIPTORS_PER_CONNECTION: u64 = 2;
/// Connections beyond the limit that are refused at once; further ones wait to be accepted.
pub(crate) const REFUSALS: usize = 32;
/// How long a refused client may take to send the head of its request and to read the refusal.
pub(crate) const REFUSAL_TIMEOUT: Duration = Duration::from_secs(3);
/// The retry time in seconds if all connections are taken.
pub(crate) const CONNECTION_RETRY_AFTER_S: u64 = 2;
/// How long a request may take after its body arrived, until its answer or its stream begins. Longer
/// than any wait for the database.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of a body that are read and discarded after its request was refused, and how long that may
/// take. The connection closes if there are more.
pub(crate) const DRAIN_BYTES: u64 = 256 * 1024;
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes that are read and discarded from a closing connection, and how long that may take. Enough for the
/// longest body of any request, so that a client that sends one reads why it was refused.
pub(crate) const LINGER_BYTES: usize = IMPORT_BODY_BYTES;
pub(crate) const LINGER_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a connection may be idle, and how long the head of a request may take.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long requests may take to finish once the server stops.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// The retry time in seconds once the server stops: another one may answer by then.
pub(crate) const STOPPING_RETRY_AFTER_S: u64 = 5;
/// How long refusals may take to reach their clients once everything else has ended.
pub(crate) const LAST_REFUSALS: Duration = Duration::from_millis(250);
/// How long the database may take to show that it is alive.
pub(crate) const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);
/// Events kept for clients that reconnect. One that missed more reads everything again.
pub(crate) const EVENTS: usize = 1_024;
/// Streams of the library's changes that are open at once, if there are connections for them: each open page has
/// one.
pub(crate) const EVENT_STREAMS: usize = 512;
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
/// Bytes of events that are sent as one piece.
pub(crate) const SESSION_PIECE_BYTES: usize = 64 * 1024;
/// Characters of an `Idempotency-Key`.
pub(crate) const KEY_CHARS: usize = 255;
/// Bytes of an answer that is kept for a request with a key. A larger one is only known to be there.
pub(crate) const KEPT_ANSWER_BYTES: usize = 1024 * 1024;
/// The retry time in seconds if the first request with a key is under way.
pub(crate) const KEY_RETRY_AFTER_S: u64 = 1;
/// Estimated bytes of all answers of reads that are kept, headers included.
pub(crate) const KEPT_READS_BYTES: u64 = 32 * 1024 * 1024;
/// Bytes of one of them. A longer one is read again each time.
pub(crate) const KEPT_READ_BYTES: usize = 512 * 1024;
/// Bytes of a body. The longest message fits, also with some of it escaped.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the body of an import: a text as long as a file may be, with each character escaped.
pub(crate) const IMPORT_BODY_BYTES: usize = 2 * persona::limits::FILE_BYTES;
/// How long a body may take to arrive.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The retry time in seconds if the database is busy or unavailable.
pub(crate) const BUSY_RETRY_AFTER_S: u64 = 1;
/// Characters of a token. A new one has 64.
pub(crate) const LEAST_TOKEN_CHARS: usize = 32;
pub(crate) const MOST_TOKEN_CHARS: usize = 256;
/// Characters of an `X-Request-Id`.
pub(crate) const REQUEST_ID_CHARS: usize = 128;
/// How long runs may take to end by themselves once the server stops. Then they are stopped, and the end of
/// their streams says so. Shorter than the grace of requests.
pub(crate) const RUN_GRACE: Duration = Duration::from_secs(3);
/// How long a stream without a run waits for a last event once the server stops.
pub(crate) const LAST_EVENT_TIMEOUT: Duration = Duration::from_millis(100);
