//! The adapters against real servers on real ports.

mod calls;
mod failures;
mod models;
mod network;
mod omitting;
mod server;
