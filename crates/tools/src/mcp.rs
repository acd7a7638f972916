//! MCP servers as tool sets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use futures::future::join_all;

use crate::Registered;

mod program;
pub use program::program_files;

mod settings;
pub use settings::{ServerSettings, Transport};

mod client;
mod connection;
mod lenient;
mod log;
mod names;
mod progress;
mod result;
mod server;
use server::Server;

/// All servers of the user's settings. A server starts when its tools are first listed, and is killed
/// when the last clone of this is dropped.
#[derive(Debug, Clone, Default)]
pub struct McpServers {
    servers: Arc<[Arc<Server>]>,
}

/// A problem of one server. The others keep working.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProblem {
    pub server: String,
    pub message: String,
}

impl fmt::Display for ServerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP server {}: {}", self.server, self.message)
    }
}

impl McpServers {
    pub fn new(settings: BTreeMap<String, ServerSettings>) -> Self {
        let mut taken = BTreeSet::new();
        let enabled = settings.into_iter().filter(|(_, settings)| settings.enabled);
        let servers = enabled.map(|(name, settings)| {
            let prefix = names::prefix(&name, &mut taken);
            Arc::new(Server::new(name, prefix, settings))
        });
        Self { servers: servers.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The prefix of all their tools' names.
    pub const PREFIX: &str = "mcp__";

    /// Lists the tools of all servers. Starts, in parallel, those that do not run. Answers from memory
    /// the next time, unless a server has ended or has announced that its tools changed.
    pub async fn list(&self) -> (Vec<Registered>, Vec<ServerProblem>) {
        let mut tools = Vec::new();
        let mut problems = Vec::new();
        for (of_server, its_problems) in join_all(self.servers.iter().map(Server::tools)).await {
            tools.extend(of_server);
            problems.extend(its_problems);
        }
        (tools, problems)
    }

    /// Ends all servers and gives each a moment to close by itself. A server that is needed later starts
    /// again.
    pub async fn close(&self) {
        join_all(self.servers.iter().map(|server| server.close())).await;
    }
}
