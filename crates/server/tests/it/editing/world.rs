//! A server with the editing agent, on each engine.

use std::collections::BTreeMap;

use app::{Library, OpenOptions, Runtime, RuntimeOptions};
use providers::{Kind, ProviderSettings, Providers};
use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};
use server::ServerOptions;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{Opened, ask, open, redact};
use crate::running::PATIENCE;

pub(crate) struct World {
    pub(crate) model: Rehearsal,
    pub(crate) port: u16,
    pub(crate) runtime: Runtime,
    library: Library,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

/// Runs a test with a script on each engine. The persona `ada` is in its library.
pub(crate) async fn on_each(script: &str, test: impl AsyncFn(&World)) {
    testkit::on_each_engine(async |database| {
        let world = World::start(&database.location, script).await;
        let ada = json!({ "entity": { "display_name": "Ada", "system_prompt": "You are Ada." } });
        world.put("persona/ada", &ada).await;
        test(&world).await;
        world.finish().await;
    })
    .await;
}

impl World {
    async fn start(location: &str, script: &str) -> Self {
        let model = Rehearsal::start_local(Script::parse(script).expect("a script")).await.expect("a port");
        let library = Library::open(OpenOptions::database(location)).await.expect("a library");
        let mut settings = ProviderSettings::new(Kind::Anthropic);
        settings.base_url = Some(model.url());
        settings.models = vec!["actor".to_owned()];
        let providers = BTreeMap::from([("stage".to_owned(), settings)]);
        let mut options =
            RuntimeOptions::new(Providers::build(providers, &|_| None).expect("lawful settings"));
        options.library_tools = server::library_tools();
        let runtime = Runtime::new(library.clone(), options);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let options = ServerOptions { user: Some("tester".to_owned()), ..ServerOptions::default() };
        let router = server::router(runtime.clone(), options);
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(server::serve(listener, router, shutdown));
        Self { model, port, runtime, library, stop, task }
    }

    async fn finish(self) {
        self.stop.send(()).expect("the server runs");
        timeout(PATIENCE, self.task).await.expect("in time").expect("a task").expect("an end");
        self.runtime.stop().await;
        self.library.close().await;
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        ask(self.port, method, path, body).await
    }

    /// Puts an entity into the library, by hand as it were.
    pub(crate) async fn put(&self, entity: &str, body: &Value) -> Value {
        let (status, answer) = self.ask("PUT", &format!("/api/library/{entity}"), Some(body)).await;
        assert!(matches!(status, 200 | 201), "{entity}: {status} {answer}");
        answer
    }

    /// Changes some fields of an entity by hand.
    pub(crate) async fn amend(&self, entity: &str, fields: &Value) -> Value {
        let body = json!({ "entity": fields, "message": "by hand" });
        let (status, answer) = self.ask("PATCH", &format!("/api/library/{entity}"), Some(&body)).await;
        assert_eq!(status, 200, "{entity}: {answer}");
        answer
    }

    /// An entity as it was written.
    pub(crate) async fn entity(&self, entity: &str) -> Value {
        let (status, answer) = self.ask("GET", &format!("/api/library/{entity}"), None).await;
        assert_eq!(status, 200, "{entity}: {answer}");
        answer
    }

    pub(crate) async fn status_of(&self, entity: &str) -> u16 {
        self.ask("GET", &format!("/api/library/{entity}"), None).await.0
    }

    /// A persona in the shape of the storage.
    pub(crate) async fn stored(&self, persona: &str) -> Value {
        let (status, answer) = self.ask("GET", &format!("/api/storage/personas/{persona}"), None).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    pub(crate) async fn open(&self, body: &Value) -> Opened {
        open(self.port, "POST", "/api/persona-agent/chat", &[], Some(&body.to_string())).await
    }

    /// Tells the agent something about a persona; the data of all events.
    pub(crate) async fn tell(&self, persona: &str, message: &str) -> Vec<Value> {
        self.tell_with(&json!({ "personaId": persona, "message": message })).await
    }

    /// The same, for a proposal only.
    pub(crate) async fn plan(&self, persona: &str, message: &str) -> Vec<Value> {
        self.tell_with(&json!({ "personaId": persona, "message": message, "plan": true })).await
    }

    /// The open proposal about a persona, or null.
    pub(crate) async fn proposal(&self, persona: &str) -> Value {
        let path = format!("/api/persona-agent/proposal?personaId={persona}");
        let (status, answer) = self.ask("GET", &path, None).await;
        assert_eq!(status, 200, "{answer}");
        answer["proposal"].clone()
    }

    /// Applies a proposal: the status and the answer.
    pub(crate) async fn apply(&self, persona: &str, proposal: &Value) -> (u16, Value) {
        let body = json!({ "personaId": persona, "proposalId": proposal["id"] });
        self.ask("POST", "/api/persona-agent/apply", Some(&body)).await
    }

    pub(crate) async fn tell_with(&self, body: &Value) -> Vec<Value> {
        let mut opened = self.open(body).await;
        if opened.status != 200 {
            panic!("{}", opened.text().await);
        }
        let events = opened.rest().await;
        for event in &events {
            assert!(event.id.is_empty() && event.name.is_empty(), "only data: {event:?}");
        }
        let mut events: Vec<Value> = events.into_iter().map(|event| event.data).collect();
        in_order_of_calls(&mut events);
        events
    }

    pub(crate) async fn clear(&self, persona: &str) -> String {
        let body = json!({ "personaId": persona });
        let (status, answer) = self.ask("POST", "/api/persona-agent/clear", Some(&body)).await;
        assert_eq!(status, 200, "{answer}");
        answer["sessionId"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn history(&self, persona: &str) -> Vec<Value> {
        let path = format!("/api/persona-agent/history?personaId={persona}");
        let (status, answer) = self.ask("GET", &path, None).await;
        assert_eq!(status, 200, "{answer}");
        answer["turns"].as_array().expect("turns").clone()
    }

    /// The newest revision of an entity.
    pub(crate) async fn revision(&self, entity: &str) -> Value {
        let (status, answer) = self.ask("GET", &format!("/api/library/{entity}/history"), None).await;
        assert_eq!(status, 200, "{answer}");
        answer["items"][0].clone()
    }

    /// The bodies that the model was sent.
    pub(crate) fn sent(&self) -> Vec<Value> {
        self.model.requests().into_iter().map(|request| request.body).collect()
    }
}

/// The types of events or turns; neighbouring deltas count once.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    types.dedup_by(|next, last| next == last && *next == "text_delta");
    types
}

/// The calls: name and input.
pub(crate) fn calls(events: &[Value]) -> Vec<(&str, &Value)> {
    let calls = events.iter().filter(|event| event["type"] == "tool_call");
    calls.map(|call| (call["toolName"].as_str().expect("a name"), &call["input"])).collect()
}

/// The results: output, and whether it is an error.
pub(crate) fn results(events: &[Value]) -> Vec<(&str, bool)> {
    let results = events.iter().filter(|event| event["type"] == "tool_result");
    let result = |result: &'_ Value| result["isError"] == true;
    results.map(|it| (it["output"].as_str().expect("a text"), result(it))).collect()
}

/// The texts that the agent completed.
pub(crate) fn texts(events: &[Value]) -> Vec<&str> {
    let texts = events.iter().filter(|event| event["type"] == "text_complete");
    texts.map(|text| text["content"].as_str().expect("a text")).collect()
}

/// Puts results that follow each other in the order of their calls: tools that only read run at the same
/// time, so the order of their results varies.
fn in_order_of_calls(events: &mut [Value]) {
    let is_result = |event: &Value| event["type"] == "tool_result";
    for run in events.chunk_by_mut(|one, next| is_result(one) && is_result(next)) {
        run.sort_by_key(|event| event["toolUseId"].as_str().unwrap_or_default().to_owned());
    }
}

/// A stream to look at: one line for each event, ids and times left out, neighbouring deltas as one.
pub(crate) fn redacted(events: &[Value]) -> String {
    let mut joined: Vec<Value> = Vec::new();
    for event in events {
        match joined.last_mut().filter(|last| last["type"] == "text_delta" && event["type"] == "text_delta") {
            Some(last) => {
                let text = |of: &Value| of["content"].as_str().expect("a text").to_owned();
                last["content"] = Value::String(text(last) + &text(event));
            }
            None => joined.push(event.clone()),
        }
    }
    joined.iter_mut().for_each(redact);
    joined.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
}
