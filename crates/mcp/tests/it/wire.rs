//! A client that writes lines of JSON, as over stdio, and sees exactly what comes back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::{FileScopes, Library, Location, OpenOptions};
use mcp::{Masque, McpOptions, ToolSelection};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::time::timeout;

use crate::schema;

/// Nothing that a test waits for takes as long as this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A library of its own in a temporary directory.
pub(crate) struct Fixture {
    pub(crate) library: Library,
    directory: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = directory.path().join("masque.db").display().to_string();
        let library = Library::open(OpenOptions::database(database)).await.expect("a library");
        Self { library, directory }
    }

    /// A library with the user's and a project's file, both followed. The project's has this text.
    pub(crate) async fn with_project(text: &str) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| directory.path().join(name);
        for name in ["user", "project"] {
            std::fs::create_dir(path(name)).expect("a directory");
        }
        let database = path("masque.db");
        let files = FileScopes {
            global: Some(path("user/personas.toml")),
            project: Some(path("project/personas.toml")),
            local: Location::Sqlite(database.clone()),
            locks: path("locks"),
            writable: true,
        };
        std::fs::write(path("project/personas.toml"), text).expect("a file");
        let database = OpenOptions::database(database.display().to_string());
        let options = OpenOptions { files: Some(files), ..database };
        let library = Library::open(options).await.expect("a library");
        library.watch();
        Self { library, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn project_file(&self) -> PathBuf {
        self.path("project/personas.toml")
    }

    pub(crate) fn user_file(&self) -> PathBuf {
        self.path("user/personas.toml")
    }

    /// A client of the older era, after its handshake, with all tools.
    pub(crate) async fn legacy(&self) -> Wire {
        Wire::connect(&self.library, Era::Legacy, ToolSelection::default()).await
    }

    /// A client of the newer era with all tools.
    pub(crate) async fn modern(&self) -> Wire {
        Wire::connect(&self.library, Era::Modern, ToolSelection::default()).await
    }

    pub(crate) async fn with_tools(&self, tools: &str) -> Wire {
        let selection = tools.parse().expect("a selection");
        Wire::connect(&self.library, Era::Modern, selection).await
    }
}

/// Saves a file as most editors do: written beside it and renamed over it.
pub(crate) fn save(path: &Path, text: &str) {
    let beside = path.with_extension("saving");
    std::fs::write(&beside, text).expect("a file is written");
    std::fs::rename(&beside, path).expect("a file is renamed");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// The metadata of every request of the newer era.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    era: Era,
    next_id: i64,
    notifications: Vec<Value>,
    /// The output schemas, by tool, once they were asked for.
    schemas: HashMap<String, Value>,
}

impl Wire {
    async fn connect(library: &Library, era: Era, tools: ToolSelection) -> Self {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let masque =
            Masque::new(library.clone(), &McpOptions { tools, user: Some("ada".into()), runtime: None });
        tokio::spawn(async move {
            if let Ok(running) = rmcp::serve_server(masque, theirs).await {
                let _ = running.waiting().await;
            }
        });
        let (reader, writer) = tokio::io::split(ours);
        let lines = BufReader::new(reader).lines();
        let mut wire =
            Self { lines, writer, era, next_id: 1, notifications: Vec::new(), schemas: HashMap::new() };
        if era == Era::Legacy {
            let params = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "wire", "version": "1.0" },
            });
            wire.request("initialize", params).await.expect("a handshake");
            wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        wire
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("a line is written");
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn start(&mut self, method: &str, mut params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        if self.era == Era::Modern {
            params["_meta"] = modern_meta();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    async fn receive(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("an answer in time");
        let line = line.expect("a line is read").expect("the server is still there");
        serde_json::from_str(&line).expect("a message")
    }

    /// The answer to a request: its result, or its error.
    pub(crate) async fn answer(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let mut message = self.receive().await;
            if message["id"] == id {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => Err(message["error"].take()),
                };
            }
            self.notifications.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.start(method, params).await;
        self.answer(id).await
    }

    /// The next notification of a method; others stay for later.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notifications.iter().position(|message| message["method"] == method) {
                return self.notifications.remove(at);
            }
            let message = self.receive().await;
            self.notifications.push(message);
        }
    }

    /// Whatever came besides answers so far.
    pub(crate) fn seen(&self) -> &[Value] {
        &self.notifications
    }

    /// Calls a tool and returns the whole result.
    pub(crate) async fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Calls a tool that must succeed; what it answers must match its schema and its text.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let structured = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), structured, "{tool}");
        let schema = self.output_schema(tool).await;
        schema::check(&schema, &structured)
            .unwrap_or_else(|problem| panic!("{tool}: {problem}\n{structured:#}"));
        structured
    }

    async fn output_schema(&mut self, tool: &str) -> Value {
        if self.schemas.is_empty() {
            let list = self.request("tools/list", json!({})).await.expect("the tools");
            for tool in list["tools"].as_array().expect("tools") {
                let name = tool["name"].as_str().expect("a name").to_owned();
                self.schemas.insert(name, tool["outputSchema"].clone());
            }
        }
        self.schemas[tool].clone()
    }

    /// Calls a tool that must refuse, and returns the error as data.
    pub(crate) async fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(result.get("structuredContent").is_none(), "an error must not claim to fit the schema");
        let error = result["_meta"]["masque/error"].clone();
        assert!(error["code"].is_string() && result["content"][0]["text"].is_string(), "{tool}: {result}");
        error
    }
}

/// True if the error names this candidate.
pub(crate) fn suggests(error: &Value, candidate: &str) -> bool {
    error["candidates"].as_array().is_some_and(|all| all.iter().any(|it| it == candidate))
}

/// True if the error offers this remedy.
pub(crate) fn offers(error: &Value, action: &str) -> bool {
    error["remedies"].as_array().is_some_and(|all| all.iter().any(|it| it["action"] == action))
}
