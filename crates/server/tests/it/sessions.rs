//! Sessions over HTTP, with a scripted model behind the server.

pub(crate) mod world;

mod approving;
mod keeping;
mod planning;
mod refusing;
mod repeating;
mod replying;
mod stopping;
mod watching;
