//! Every limit of a rehearsal, by name.

use std::time::Duration;

/// The longest script, in bytes.
pub const SCRIPT_BYTES: usize = 4 * 1024 * 1024;
/// The most replies of one script.
pub const REPLIES: usize = 10_000;
/// The most pieces of one reply.
pub const PIECES: usize = 1_000;
/// The longest pattern of a `when`, in bytes.
pub const PATTERN_BYTES: usize = 16 * 1024;
/// How large a compiled regular expression may grow, in bytes.
pub const REGEX_BYTES: usize = 1024 * 1024;
/// The longest body of a request, in bytes.
pub const BODY_BYTES: usize = 32 * 1024 * 1024;
/// The longest text that takes the place of one `{{…}}`, in bytes.
pub const SUBSTITUTED_BYTES: usize = 256 * 1024;
/// The most requests that are kept for [`crate::Rehearsal::requests`]; older ones are forgotten.
pub const RECORDED_REQUESTS: usize = 10_000;
/// The most bytes of requests that are kept; older ones are forgotten.
pub const RECORDED_BYTES: usize = 64 * 1024 * 1024;
/// The longest wait that a script may ask for: first token, pace and stalls.
pub const WAIT: Duration = Duration::from_secs(60 * 60);
/// The most connections that are open at once; others wait to be accepted.
pub const CONNECTIONS: usize = 4_096;
/// How long a connection may take to send the head of a request.
pub const HEAD_WAIT: Duration = Duration::from_secs(30);
/// How long a cut connection stays open after its last bytes, so that they arrive.
pub const CUT_LINGER: Duration = Duration::from_millis(20);
/// The longest cassette, in bytes, to be read or written.
pub const CASSETTE_BYTES: usize = 256 * 1024 * 1024;
/// The most exchanges of one cassette.
pub const EXCHANGES: usize = 10_000;
/// The longest answer of an upstream that is recorded, in bytes.
pub const ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// How long the proxy waits for an upstream to accept a connection.
pub const UPSTREAM_CONNECT: Duration = Duration::from_secs(30);
/// How long the proxy waits for an upstream's next bytes.
pub const UPSTREAM_IDLE: Duration = Duration::from_secs(10 * 60);
