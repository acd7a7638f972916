//! The protocol as a client meets it: over an in-process wire, and over HTTP on a real port.

mod http_client;
mod schema;
mod wire;

mod entities;
mod errors;
mod http;
mod lifecycle;
mod live;
mod problems;
mod prompts;
mod resources;
mod revisions;
mod scopes;
mod selection;
mod skills;
mod subscriptions;
