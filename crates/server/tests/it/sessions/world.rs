//! A server with a scripted model behind it, and a persona to talk to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use app::{Author, Library, OpenOptions, Runtime, RuntimeOptions};
use providers::{Kind, ProviderSettings, Providers};
use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};
use server::ServerOptions;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::client::{Event, Opened, ask, open};
use crate::running::PATIENCE;

pub(crate) struct World {
    pub(crate) model: Rehearsal,
    pub(crate) served: Served,
    directory: TempDir,
}

/// A server that runs.
pub(crate) struct Served {
    pub(crate) port: u16,
    library: Library,
    runtime: Runtime,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Served {
    async fn start(directory: &Path, model: &Rehearsal) -> Self {
        let database = OpenOptions::database(directory.join("masque.db").display().to_string());
        let library = Library::open(database).await.expect("a library");
        let mut settings = ProviderSettings::new(Kind::Anthropic);
        settings.base_url = Some(model.url());
        settings.models = vec!["actor".to_owned()];
        let providers = BTreeMap::from([("stage".to_owned(), settings)]);
        let providers = Providers::build(providers, &|_| None).expect("lawful settings");
        let mut options = RuntimeOptions::new(providers);
        options.root = Some(directory.join("project"));
        let runtime = Runtime::new(library.clone(), options);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let router = server::router(runtime.clone(), ServerOptions::default());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(server::serve(listener, router, shutdown));
        Self { port, library, runtime, stop, task }
    }

    /// Stops regularly, as a process does on a signal.
    pub(crate) async fn stop(self) {
        self.stop.send(()).expect("the server runs");
        timeout(PATIENCE, self.task).await.expect("in time").expect("a task").expect("an end");
        self.runtime.stop().await;
        self.library.close().await;
    }
}

impl World {
    /// A world whose model follows a script, with the persona `guide` in its library and the file
    /// `notes.txt` in its project.
    pub(crate) async fn start(script: &str) -> Self {
        let model = Rehearsal::start_local(Script::parse(script).expect("a script")).await.expect("a port");
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::create_dir(directory.path().join("project")).expect("a directory");
        std::fs::write(directory.path().join("project/notes.txt"), "the answer is 42\n").expect("a file");
        let served = Served::start(directory.path(), &model).await;
        let world = Self { model, served, directory };
        world.persona(json!({ "name": "guide", "system_prompt": "You guide." })).await;
        world
    }

    pub(crate) async fn persona(&self, input: Value) {
        let input = serde_json::from_value(input).expect("an input");
        self.served.library.create_persona(&Author::new("somebody", "test"), input).await.expect("created");
    }

    /// Another process on the same database.
    pub(crate) async fn restart(self) -> Self {
        let Self { model, served, directory } = self;
        served.stop().await;
        let served = Served::start(directory.path(), &model).await;
        Self { model, served, directory }
    }

    pub(crate) fn project_file(&self, name: &str) -> PathBuf {
        self.directory.path().join("project").join(name)
    }

    pub(crate) async fn open(&self, method: &str, path: &str, body: Option<&Value>) -> Opened {
        let body = body.map(Value::to_string);
        open(self.served.port, method, path, &[], body.as_deref()).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.ask("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, Some(body)).await
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        ask(self.served.port, method, path, body).await
    }

    /// A new session of the persona `guide`; its path.
    pub(crate) async fn session(&self) -> String {
        self.session_with(&json!({ "persona": "guide" })).await
    }

    pub(crate) async fn session_with(&self, input: &Value) -> String {
        let (status, session) = self.post("/api/sessions", input).await;
        assert_eq!(status, 201, "{session}");
        format!("/api/sessions/{}", session["id"].as_str().expect("an id"))
    }

    /// Says something; the stream of what comes of it.
    pub(crate) async fn say(&self, session: &str, content: &str) -> Opened {
        let opened =
            self.open("POST", &format!("{session}/messages"), Some(&json!({ "content": content }))).await;
        match opened.status {
            200 => opened,
            _ => panic!("{}", opened.text().await),
        }
    }

    /// Says something and hears all that comes of it.
    pub(crate) async fn hear(&self, session: &str, content: &str) -> Vec<Event> {
        self.say(session, content).await.rest().await
    }

    /// Watches a session from a place on.
    pub(crate) async fn watch(&self, session: &str, last: Option<&str>) -> Opened {
        let headers: Vec<(&str, &str)> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let opened = open(self.served.port, "GET", &format!("{session}/events"), &headers, None).await;
        assert_eq!(opened.status, 200, "{}", opened.head);
        opened
    }

    /// Waits until a session does nothing more, at most as long as this.
    pub(crate) async fn idle_within(&self, session: &str, most: Duration) {
        let idle = async {
            while self.get(session).await.1["status"] != "idle" {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(most, idle).await.expect("idle in time");
    }

    /// The bodies that the model was sent.
    pub(crate) fn sent(&self) -> Vec<Value> {
        self.model.requests().into_iter().map(|request| request.body).collect()
    }
}

/// The names of the tools that a model was offered.
pub(crate) fn offered(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// The pieces of system text that a model was sent.
pub(crate) fn system(body: &Value) -> Vec<&str> {
    let pieces = body["system"].as_array().map(Vec::as_slice).unwrap_or_default();
    pieces.iter().filter_map(|piece| piece["text"].as_str()).collect()
}

/// The conversation that a model was sent: role and text or kind of each block.
pub(crate) fn conversation(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocks = messages.iter().flat_map(|message| {
        let role = message["role"].as_str().unwrap_or_default();
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        blocks.iter().map(move |block| {
            let text = block["text"].as_str().or(block["type"].as_str()).unwrap_or_default();
            format!("{role}: {text}")
        })
    });
    blocks.collect()
}
