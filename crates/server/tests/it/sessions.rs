//! Sessions over HTTP, with a scripted model behind the server.

mod world;

mod approving;
mod keeping;
mod planning;
mod refusing;
mod replying;
mod stopping;
mod watching;
