//! Tools and their handlers: files, commands, addresses and MCP servers.
//!
//! A tool is a description (`agent::Tool`) and a [`Handler`]; a [`ToolSource`] provides the tools of a
//! run. This crate checks a model's input, runs the handler within its limits and cuts long output; a
//! failure is an [`Outcome`] for the model to read. It must not know personas, presets, modes or
//! sessions: `agent` decides which tools exist for whom, and which need approval, before anything
//! here is called.

pub mod limits;

mod outcome;
pub use outcome::{Consent, EventSender, Handler, Invocation, Outcome, RunEffect, ToolEvent};

mod registered;
pub use registered::Registered;

mod toolbox;
pub use toolbox::Toolbox;

mod input;
mod text;

mod files;
pub use files::{FileChange, Guard, Preview, Root, RootError, SecretPatternError, SecretPatterns, files};

mod environment;
#[cfg(target_os = "linux")]
mod keeper;
mod process;
#[cfg(target_os = "linux")]
pub use keeper::{keep, kept_command};

mod shell;
pub use shell::{LineEnd, ShellSettings, run_line, shell};

mod fetch;
pub use fetch::{FetchSettings, fetch};

mod source;
pub use source::{FixedTools, Provided, RunContext, ToolSource, Workspace};

mod mcp;
pub use mcp::{McpServers, ServerProblem, ServerSettings, Transport, program_files};

/// Installs the TLS provider for this process. reqwest panics without one; a second call does nothing.
fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
