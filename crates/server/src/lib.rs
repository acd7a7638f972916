//! The HTTP server: which routes there are, how connections are run, and when it stops.
//!
//! It knows addresses, time-outs, health, and how changes of the library and what happens in sessions
//! become streams of events. What a session does is `app`'s: this crate must not know what a persona is.

mod limits;

mod address;
pub use address::{AddressError, check_address};

mod routes;
pub use routes::{ServerOptions, router};

mod events;
mod health;
mod problem;
mod sessions;

mod serve;
pub use serve::serve;
