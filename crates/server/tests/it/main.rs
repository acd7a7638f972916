//! The server on a real port.

mod running;

mod events;
mod guard;
mod health;
mod sessions;
mod stopping;
