//! The server on a real port.

mod client;
mod running;

mod access;
mod bodies;
mod editing;
mod events;
mod guard;
mod health;
mod library;
mod metrics;
mod pages;
mod sessions;
mod stopping;
mod testing;
