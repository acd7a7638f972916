//! A library, a scripted model, and a runtime between them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::{End, Event, Mode};
use app::running::{ApprovalPolicy, CreateSession, SendOptions, SessionView, Subscription};
use app::{Runtime, RuntimeOptions};
use persona::Scope;
use providers::{Kind, ProviderSettings, Providers};
use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::world::{World, name, with_files};

#[derive(Debug)]
pub(crate) struct Stage<'a> {
    pub(crate) world: &'a World,
    pub(crate) model: Rehearsal,
    pub(crate) runtime: Runtime,
    pub(crate) root: TempDir,
}

/// Runs a test with a script on each engine. The persona `ada` prefers the scripted model.
pub(crate) async fn on_stage(script: &str, test: impl AsyncFn(&Stage<'_>)) {
    on_stage_with("", script, test).await;
}

/// The same with a project's file that says something.
pub(crate) async fn on_stage_with(project: &str, script: &str, test: impl AsyncFn(&Stage<'_>)) {
    with_files("", project, async |world| {
        let stage = Stage::set(world, script).await;
        test(&stage).await;
        stage.runtime.stop().await;
    })
    .await;
}

impl<'a> Stage<'a> {
    pub(crate) async fn set(world: &'a World, script: &str) -> Self {
        let model = Rehearsal::start_local(Script::parse(script).expect("a lawful script")).await.unwrap();
        let root = TempDir::new().unwrap();
        std::fs::write(root.path().join("notes.txt"), "the answer is 42\n").unwrap();
        let options = options(&model, root.path());
        let runtime = Runtime::new(world.library.clone(), options);
        world
            .persona(
                Scope::Shared,
                json!({
                    "name": "ada", "system_prompt": "You are Ada.",
                    "preferred_models": [{ "provider": "stage", "model": "actor", "temperature": 0.5 }],
                }),
            )
            .await;
        Self { world, model, runtime, root }
    }

    /// Another process, as it were, with the same library and model.
    pub(crate) async fn restarted(&self) -> Runtime {
        self.restarted_with(|_| ()).await
    }

    /// The same with other settings.
    pub(crate) async fn restarted_with(&self, change: impl FnOnce(&mut RuntimeOptions)) -> Runtime {
        let library = self.world.reopened(|_| ()).await;
        let mut options = options(&self.model, self.root.path());
        change(&mut options);
        Runtime::new(library, options)
    }

    /// The location of the library's database.
    pub(crate) async fn location(&self) -> String {
        let mut location = String::new();
        self.world.reopened(|options| location.clone_from(&options.database)).await.close().await;
        location
    }

    /// The sessions in the library's database, for what no front can do.
    pub(crate) async fn store(&self) -> testkit::sessions::Opened {
        testkit::sessions::open(&testkit::Database::at(&self.location().await)).await
    }

    pub(crate) async fn session(&self, mode: Mode) -> Uuid {
        self.session_of("ada", mode).await
    }

    pub(crate) async fn session_of(&self, persona: &str, mode: Mode) -> Uuid {
        let input = CreateSession {
            persona: name(persona),
            scope: None,
            mode: Some(mode.to_string()),
            model: None,
            overrides: BTreeMap::new(),
            root: None,
            greeting: None,
        };
        self.runtime.create_session(input).await.unwrap().session.id
    }

    pub(crate) async fn say(&self, id: Uuid, content: &str) -> Vec<Event> {
        self.say_with(id, content, ApprovalPolicy::Ask).await
    }

    pub(crate) async fn say_with(&self, id: Uuid, content: &str, policy: ApprovalPolicy) -> Vec<Event> {
        let options = SendOptions { policy, ..SendOptions::default() };
        to_the_end(self.runtime.send(id, content.to_owned(), options).await.unwrap()).await
    }

    pub(crate) async fn view(&self, id: Uuid) -> SessionView {
        self.runtime.session(id).await.unwrap()
    }

    /// The bodies that the model was sent.
    pub(crate) fn sent(&self) -> Vec<Value> {
        self.model.requests().into_iter().map(|recorded| recorded.body).collect()
    }

    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }
}

pub(crate) fn options(model: &Rehearsal, root: &Path) -> RuntimeOptions {
    options_at(&model.url(), root)
}

/// The same for a model that another process has.
pub(crate) fn options_at(url: &str, root: &Path) -> RuntimeOptions {
    let mut options = RuntimeOptions::new(provider("stage", Kind::OpenaiChat, url));
    options.root = Some(root.to_path_buf());
    options
}

/// One provider, which speaks one of the protocols.
pub(crate) fn provider(name: &str, kind: Kind, url: &str) -> Providers {
    Providers::build(BTreeMap::from([(name.to_owned(), settings(kind, url))]), &|_| None).unwrap()
}

/// How a model is reached in one of the protocols.
pub(crate) fn settings(kind: Kind, url: &str) -> ProviderSettings {
    let path = match kind {
        Kind::Anthropic | Kind::Gemini => "",
        Kind::OpenaiResponses | Kind::OpenaiChat => "/v1",
    };
    let mut settings = ProviderSettings::new(kind);
    settings.base_url = Some(format!("{}{path}", url.trim_end_matches('/')));
    settings
}

/// The same as [`Stage::say`] where another process runs it.
pub(crate) async fn say(runtime: &Runtime, id: Uuid, content: &str) -> Vec<Event> {
    to_the_end(runtime.send(id, content.to_owned(), SendOptions::default()).await.unwrap()).await
}

pub(crate) async fn to_the_end(mut events: Subscription) -> Vec<Event> {
    let mut heard = Vec::new();
    while let Some(told) = events.next().await.unwrap() {
        heard.push(told.event.clone());
    }
    heard
}

/// The names of events, a run of deltas as one.
pub(crate) fn names(events: &[Event]) -> String {
    let mut names: Vec<&str> = events.iter().map(Event::name).collect();
    names.dedup_by(|next, last| next == last && *next == "text_delta");
    names.join(" ")
}

/// The types of a session's turns.
pub(crate) fn turns(view: &SessionView) -> String {
    let types = view.turns.iter().map(|turn| serde_json::to_value(turn).unwrap()["type"].clone());
    types.map(|kind| kind.as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn end(events: &[Event]) -> Option<End> {
    events.iter().find_map(|event| match event {
        Event::Done { stop_reason } => Some(*stop_reason),
        _ => None,
    })
}

/// Everything up to and with the so many-th event of a name.
pub(crate) async fn hear(events: &mut Subscription, name: &str, times: usize) -> Vec<Event> {
    let mut heard = Vec::new();
    while heard.iter().filter(|event: &&Event| event.name() == name).count() < times {
        let told = tokio::time::timeout(PATIENCE, events.next()).await;
        let told = told.unwrap_or_else(|_| panic!("no {name} after {}", names(&heard)));
        heard.push(told.unwrap().expect("the stream goes on").event.clone());
    }
    heard
}

/// How long a test waits for what has to come.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// The session's calls that wait for permission: session and call.
pub(crate) fn requests(events: &[Event]) -> Vec<(Uuid, String)> {
    let asked = events.iter().filter_map(|event| match event {
        Event::ApprovalRequest { session_id, call } => Some((*session_id, call.id.clone())),
        _ => None,
    });
    asked.collect()
}

/// The tool results, and whether each is an error.
pub(crate) fn results(view: &SessionView) -> Vec<(String, bool)> {
    let results = view.turns.iter().filter_map(|turn| match &turn.body {
        agent::TurnBody::ToolResult { output, is_error, .. } => Some((output.clone(), *is_error)),
        _ => None,
    });
    results.collect()
}

/// Why tools were not run, one entry for each result.
pub(crate) fn refusals(view: &SessionView) -> Vec<Option<agent::Refusal>> {
    let results = view.turns.iter().filter_map(|turn| match &turn.body {
        agent::TurnBody::ToolResult { refusal, .. } => Some(*refusal),
        _ => None,
    });
    results.collect()
}

/// No call without a result, no result without a call.
#[track_caller]
pub(crate) fn assert_whole(view: &SessionView) {
    let mut open: Vec<&str> = Vec::new();
    for turn in &view.turns {
        match &turn.body {
            agent::TurnBody::ToolCall { call, .. } => open.push(&call.id),
            agent::TurnBody::ToolResult { tool_use_id, .. } => {
                let at = open.iter().position(|id| id == tool_use_id);
                open.remove(at.unwrap_or_else(|| panic!("a result of no call: {}", turns(view))));
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "calls without a result: {}", turns(view));
}

/// The system text of a request.
pub(crate) fn system(sent: &Value) -> &str {
    sent["messages"][0]["content"].as_str().expect("a system text")
}

pub(crate) fn offered(sent: &Value) -> Vec<&str> {
    let tools = sent["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

pub(crate) fn description<'a>(sent: &'a Value, tool: &str) -> &'a str {
    let tools = sent["tools"].as_array().expect("tools");
    let found = tools.iter().find(|found| found["function"]["name"] == tool).expect("the tool");
    found["function"]["description"].as_str().unwrap()
}

pub(crate) fn approved() -> app::running::Decision {
    app::running::Decision { approved: true, ..Default::default() }
}

pub(crate) fn rejected(reason: &str) -> app::running::Decision {
    app::running::Decision { approved: false, reason: Some(reason.to_owned()), remember: false }
}
