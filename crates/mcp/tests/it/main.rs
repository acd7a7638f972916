//! The protocol as a client meets it: over an in-process wire, and over HTTP on a real port.

mod http_client;
mod schema;
mod wire;

mod documentation;
mod errors;
mod http;
mod lifecycle;
mod prompts;
mod resources;
mod selection;
mod skills;
mod subscriptions;
