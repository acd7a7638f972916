//! The HTTP server: routes, connections, shutdown.
//!
//! Its routes come from the table of `operations`. This crate knows addresses, time-outs, health, how a
//! request becomes the fields of an input, how an outcome becomes a response with its headers, and how
//! events become streams. It decides nothing about sessions or entities.

mod limits;

mod address;
pub use address::{ListenAddressError, check_address};

mod routes;
pub use routes::{ServerOptions, router};

mod api;
mod conditional;
mod extract;
mod problem;
mod problem_header;
mod request_error;
mod result;
mod wording;

mod events;
mod health;
mod session_stream;

mod serve;
pub use serve::serve;
