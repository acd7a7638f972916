//! A configured server. It is started when it is needed, and again when it died.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use agent::{Annotations, Schema, Tool};
use futures::future::BoxFuture;
use rmcp::model::ToolAnnotations;
use serde_json::Value;
use tokio::sync::Mutex;

use super::connection::{Connection, Failed};
use super::settings::{ServerSettings, Transport};
use super::{ServerProblem, names};
use crate::text::shortened;
use crate::{Handler, Invocation, Outcome, Registered, limits};

#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: String,
    prefix: String,
    pub(super) settings: ServerSettings,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<Connection>>,
    listed: Option<Listed>,
    /// Starts that failed and lives that were short, in a row.
    failures: u32,
    not_before: Option<Instant>,
    last_problem: String,
}

/// The server's tools, until it announces a change.
#[derive(Debug, Clone)]
struct Listed {
    tools: Vec<Registered>,
    problems: Vec<ServerProblem>,
}

impl Server {
    pub(super) fn new(name: String, prefix: String, settings: ServerSettings) -> Self {
        Self { name, prefix, settings, state: Mutex::default() }
    }

    /// The server's tools, from memory unless it announced a change.
    pub(super) async fn tools(self: &Arc<Self>) -> (Vec<Registered>, Vec<ServerProblem>) {
        match self.list().await {
            Ok(listed) => (listed.tools, listed.problems),
            Err(message) => (Vec::new(), vec![self.problem(message)]),
        }
    }

    async fn list(self: &Arc<Self>) -> Result<Listed, String> {
        let mut state = self.state.lock().await;
        let connection = self.connected(&mut state).await?;
        let changed = connection.take_changed();
        if let Some(listed) = state.listed.as_ref().filter(|_| !changed) {
            return Ok(listed.clone());
        }
        let time = self.settings.startup_timeout;
        let listed = match tokio::time::timeout(time, connection.list()).await {
            Ok(Ok((tools, problems))) => self.taken(tools, problems),
            failed => {
                state.listed = None;
                let message = match failed {
                    Ok(Err(message)) => format!("its tools could not be listed: {message}"),
                    _ => format!("its tools were not listed within {} s", time.as_secs()),
                };
                // A server that cannot list its tools counts as failed.
                state.connection = None;
                state.failed(&message);
                return Err(message);
            }
        };
        state.listed = Some(listed.clone());
        Ok(listed)
    }

    /// The live connection. Starts the server if there is none.
    async fn connected(&self, state: &mut State) -> Result<Arc<Connection>, String> {
        if let Some(connection) = state.connection.as_ref() {
            if connection.is_alive() {
                return Ok(Arc::clone(connection));
            }
            if connection.since.elapsed() < limits::SERVER_SHORT_LIFE {
                state.failed("it ended soon after it was started");
            } else {
                state.failures = 0;
                state.not_before = None;
            }
            state.connection = None;
            state.listed = None;
            tracing::warn!(server = self.name, "an MCP server ended; it is started again");
        }
        if let Some(wait) = state.not_before.and_then(|at| at.checked_duration_since(Instant::now())) {
            let (problem, wait) = (&state.last_problem, wait.as_secs() + 1);
            return Err(format!(
                "{problem}; it has failed {} times and is tried again in {wait} s",
                state.failures
            ));
        }
        let time = self.settings.startup_timeout;
        let opened = tokio::time::timeout(time, Connection::open(&self.name, &self.settings.transport)).await;
        let opened = opened.unwrap_or_else(|_| Err(format!("it did not start within {} s", time.as_secs())));
        match opened {
            Ok(connection) => {
                let connection = Arc::new(connection);
                state.connection = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(message) => {
                state.failed(&message);
                Err(message)
            }
        }
    }

    fn taken(self: &Arc<Self>, tools: Vec<rmcp::model::Tool>, problems: Vec<String>) -> Listed {
        let problems = problems.into_iter().map(|problem| self.problem(problem)).collect();
        let mut listed = Listed { tools: Vec::new(), problems };
        let mut taken = BTreeSet::new();
        for tool in tools {
            if !self.settings.admits(&tool.name) {
                continue;
            }
            let schema = Value::Object((*tool.input_schema).clone());
            if schema.to_string().len() > limits::SCHEMA_BYTES {
                let name = shortened(&tool.name, 80);
                let message = format!("the input schema of {name:?} is too large; the tool is left out");
                listed.problems.push(self.problem(message));
                continue;
            }
            listed.tools.push(self.registered(&tool, schema, &mut taken));
        }
        listed
    }

    fn registered(
        self: &Arc<Self>,
        tool: &rmcp::model::Tool,
        schema: Value,
        taken: &mut BTreeSet<String>,
    ) -> Registered {
        let mut description =
            tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default().to_owned();
        if description.len() > limits::DESCRIPTION_BYTES {
            description.truncate(description.floor_char_boundary(limits::DESCRIPTION_BYTES - 4));
            description.push('…');
        }
        let hints = tool.annotations.clone().unwrap_or_default();
        let described = Tool {
            name: names::tool(&self.prefix, &tool.name, taken),
            set: "mcp",
            description: description.replace('\0', "\u{FFFD}"),
            input_schema: Schema::new(schema),
            annotations: self.annotations(&hints),
        };
        let handler = OfServer {
            server: Arc::downgrade(self),
            name: self.name.clone(),
            tool: tool.name.to_string(),
            shown: described.name.clone(),
        };
        Registered::new(described, Arc::new(handler))
    }

    /// A missing hint counts as the worst. A tool that claims both to read only and to destroy destroys.
    fn annotations(&self, hints: &ToolAnnotations) -> Annotations {
        let worst = Annotations::WORST;
        let destroys = hints.destructive_hint == Some(true);
        Annotations {
            read_only_hint: hints.read_only_hint.unwrap_or(worst.read_only_hint) && !destroys,
            destructive_hint: hints.destructive_hint.unwrap_or(worst.destructive_hint),
            idempotent_hint: hints.idempotent_hint.unwrap_or(worst.idempotent_hint),
            open_world_hint: hints.open_world_hint.unwrap_or(worst.open_world_hint),
            is_claimed: !self.settings.trust_hints,
        }
    }

    /// The hints of a tool, by its name here. The server is asked if it announced a change. A tool that is
    /// gone may do anything.
    async fn hints(self: &Arc<Self>, name: &str) -> Annotations {
        let listed = self.list().await;
        let found = listed.iter().flat_map(|listed| &listed.tools).find(|listed| listed.tool.name == name);
        found.map_or(Annotations::WORST, |listed| listed.tool.annotations)
    }

    async fn call(&self, tool: &str, invocation: Invocation) -> Outcome {
        let work = async {
            let mut restarted = false;
            loop {
                let connection = {
                    let mut state = self.state.lock().await;
                    match self.connected(&mut state).await {
                        Ok(connection) => connection,
                        Err(message) => return self.failure(message),
                    }
                };
                match connection.call(tool, &invocation, self.settings.call_timeout).await {
                    Ok(outcome) => return outcome,
                    Err(Failed::Unsent(_)) if !restarted => restarted = true,
                    Err(Failed::Unsent(message)) => {
                        return self.failure(format!("{message}; nothing was done"));
                    }
                    Err(Failed::Sent(message)) => return self.failure(message),
                }
            }
        };
        tokio::select! {
            outcome = work => outcome,
            () = invocation.cancelled.cancelled() => {
                Outcome::error("cancelled; the server was notified, and may have finished all the same")
            }
        }
    }

    pub(super) async fn close(&self) {
        let connection = {
            let mut state = self.state.lock().await;
            state.listed = None;
            state.connection.take()
        };
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    fn problem(&self, message: String) -> ServerProblem {
        ServerProblem { server: self.name.clone(), message: self.hushed(message) }
    }

    /// A failed call, as the model reads it.
    fn failure(&self, message: String) -> Outcome {
        Outcome::error(format!("MCP server {}: {}", self.name, self.hushed(message)))
    }

    /// Removes the query of the server's address from a message: some servers take their keys there.
    fn hushed(&self, message: String) -> String {
        let Transport::Http { url, .. } = &self.settings.transport else { return message };
        match url.split_once('?') {
            Some((_, query)) if !query.is_empty() => message.replace(query, "[secret]"),
            _ => message,
        }
    }
}

impl State {
    fn failed(&mut self, problem: &str) {
        self.failures = self.failures.saturating_add(1);
        problem.clone_into(&mut self.last_problem);
        self.not_before = self.failures.checked_sub(limits::SERVER_QUICK_RESTARTS + 1).map(|doublings| {
            let pause = Duration::from_secs(1) * 2_u32.saturating_pow(doublings.min(16));
            Instant::now() + pause.min(limits::SERVER_PAUSE)
        });
    }
}

/// A tool of a server. It does not keep the server running: dropping [`super::McpServers`] ends it.
#[derive(Debug)]
struct OfServer {
    server: Weak<Server>,
    name: String,
    /// The tool's name at the server, and the one that models see.
    tool: String,
    shown: String,
}

impl Handler for OfServer {
    fn hints(&self) -> BoxFuture<'_, Option<Annotations>> {
        Box::pin(async move {
            match self.server.upgrade() {
                Some(server) => Some(server.hints(&self.shown).await),
                None => Some(Annotations::WORST),
            }
        })
    }

    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match self.server.upgrade() {
                Some(server) => server.call(&self.tool, invocation).await,
                None => Outcome::error(format!("MCP server {} is no longer there", self.name)),
            }
        })
    }
}
