//! The HTTP server: which routes there are, how connections are run, and when it stops.
//!
//! It knows addresses, time-outs, health, how requests become inputs of `app`, and how changes of the
//! library and what happens in sessions become streams of events. What a session does and what an
//! entity means is `app`'s: this crate parses and answers.

mod limits;

mod address;
pub use address::{AddressError, check_address};

mod routes;
pub use routes::{ServerOptions, router};

mod answer;
mod asked;
mod problem;

mod events;
mod health;
mod library;
mod sessions;

mod serve;
pub use serve::serve;
