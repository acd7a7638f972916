//! The library over the Model Context Protocol, on stdio and on streamable HTTP.
//!
//! Tools are rows of `operations`: a call finds its row, runs it and wraps the outcome. Prompts,
//! resources and skills are made here from the library. This crate knows the protocol's two eras
//! (stateless since 2026-07-28, sessions before that). It must not know how anything is stored, and
//! it decides nothing about personas.

mod limits;

pub use operations::{ToolSelection, ToolSelectionError, ToolSet};

mod tools;
pub use tools::schema_text;

mod handler;
pub use handler::{Masque, McpOptions};

mod caller;
pub use caller::is_modern;

mod info;
mod problems;
mod wording;

mod completion;
mod prompts;
mod resources;
mod skills;
mod subscriptions;
mod uri;

pub mod http;

mod stdio;
pub use stdio::{StdioError, serve_stdio};
