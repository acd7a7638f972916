//! The HTTP server: routes, connections, shutdown, and the page.
//!
//! Its routes come from the table of `operations`. This crate knows addresses, callers, time-outs, health,
//! how a request becomes the fields of an input, how an outcome becomes a response with its headers, and
//! how events become streams. It decides nothing about sessions or entities.

mod limits;

mod address;
pub use address::{ListenAddressError, check_address};

mod capacity;
mod routes;
pub use routes::{Routes, ServerOptions, router};

mod access;
pub use access::{Access, Token};
mod front;
mod login;
mod place;
mod request_id;
mod secure_headers;
mod spans;

mod answer;
mod api;
mod api_docs;
mod conditional;
mod extract;
mod idempotency;
mod kept_reads;
mod problem;
mod problem_header;
mod request_error;
mod result;
mod wording;

mod events;
mod health;
mod metrics;
mod open_streams;
mod session_stream;
mod test_stream;
mod track_stream;

mod page;
mod plain_page;

mod lingering;
mod serve;
mod unread;
pub use serve::serve;

pub use operations::library_tools;
