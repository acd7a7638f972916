//! The server on a real port.

mod client;
mod running;

mod events;
mod guard;
mod health;
mod library;
mod sessions;
mod stopping;
