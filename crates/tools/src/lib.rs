//! Tools and what runs them: files, commands, addresses and MCP servers.
//!
//! A tool is a description (`agent::Tool`) and a handler. This crate checks what a model sends, runs
//! the handler within its limits and cuts what comes back; a failure is an answer for the model to
//! read. It must not know personas, presets, modes or sessions: which tools exist for whom, and which
//! need permission, is decided in `agent` before anything here is called.

pub mod limits;

mod answer;
pub use answer::{Answer, Call, Handler, Reply};

mod registered;
pub use registered::Registered;

mod toolbox;
pub use toolbox::Toolbox;

mod input;
mod text;

mod files;
pub use files::{Root, RootError, files};

mod environment;
#[cfg(target_os = "linux")]
mod keeper;
mod process;
#[cfg(target_os = "linux")]
pub use keeper::{keep, kept_command};

mod shell;
pub use shell::{ShellSettings, shell};

mod fetch;
pub use fetch::{FetchSettings, fetch};

mod mcp;
pub use mcp::{McpServers, ServerProblem, ServerSettings, Transport};
