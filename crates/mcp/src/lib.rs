//! The library over the Model Context Protocol, on stdio and on streamable HTTP.
//!
//! Every request is the same three steps: parse what came into an input of `app`, let `app` do
//! it, answer with what `app` hands out. This crate knows the protocol's two eras (stateless
//! since 2026-07-28, sessions before that) and how a connection chooses its tools. It must not
//! know how anything is stored, and it decides nothing about personas.

mod limits;

mod selection;
pub use selection::{ToolSelection, ToolSelectionError, ToolSet};

mod tools;
pub use tools::schema_text;

mod arguments;
mod schema;

mod handler;
pub use handler::{Masque, McpOptions};

mod caller;
mod info;
mod problems;

mod completion;
mod prompts;
mod resources;
mod skills;
mod subscriptions;
mod uri;

mod conformance;

pub mod http;

mod stdio;
pub use stdio::{StdioError, serve_stdio};
