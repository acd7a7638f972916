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
/// How long to wait before accepting again when the system has no room for a connection.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
