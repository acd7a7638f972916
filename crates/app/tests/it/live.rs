//! The loop against a real model on a foreign server, in three protocols.
//!
//! `cargo xtask test --live` runs these tests, with the server's address in `MASQUE_LIVE_URL`. They
//! check only what holds whatever a small model answers.

#![allow(clippy::print_stdout, reason = "the user reads along")]
#![cfg_attr(not(feature = "live-tests"), allow(dead_code, reason = "tests only with that feature"))]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agent::{End, Event, Turn, TurnBody};
use app::running::{ApprovalPolicy, CreateSession, SendOptions, SessionView};
use app::{Runtime, RuntimeOptions};
use persona::{Kind as EntityKind, Scope};
use providers::{Kind, ProviderSettings, Providers};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::world::{World, name};

const VARIABLE: &str = "MASQUE_LIVE_URL";

struct Live {
    world: World,
    runtime: Runtime,
    root: TempDir,
    _database: testkit::Database,
}

impl Live {
    async fn open(kind: Kind, url: &str) -> Self {
        let url = url.trim_end_matches('/').to_owned();
        let mut settings = ProviderSettings::new(kind);
        settings.base_url = Some(match kind {
            Kind::Anthropic => url.clone(),
            _ => format!("{url}/v1"),
        });
        settings.idle_timeout_s = Some(600);
        settings.timeout_s = Some(1_200);
        let providers = BTreeMap::from([("live".to_owned(), settings)]);
        let providers = Providers::build(providers, &|_| None).unwrap();
        let models = providers.get("live").unwrap().models().await;
        let model = models
            .ok()
            .and_then(|models| models.into_iter().next())
            .map_or("any".to_owned(), |model| model.id);
        let database = testkit::Database::sqlite();
        let world = World::open(&database, "", "").await;
        let preset = json!({ "name": "two", "categories": { "files": [
            { "name": "read_file", "approval": "auto" }, { "name": "write_file", "approval": "auto" },
        ] } });
        world.create(EntityKind::ToolPreset, Scope::Shared, preset).await;
        let persona = json!({
            "name": "helper", "tool_preset": "two",
            "system_prompt": "You help with files. Answer in one short sentence. Use a tool only when you are asked to read or write a file.",
            "preferred_models": [{ "provider": "live", "model": model, "temperature": 0.0, "max_output_tokens": 200 }],
        });
        world.persona(Scope::Shared, persona).await;
        let root = TempDir::new().unwrap();
        std::fs::write(root.path().join("notes.txt"), "The secret word is heron.\n").unwrap();
        let mut options = RuntimeOptions::new(providers);
        options.root = Some(root.path().to_path_buf());
        options.max_tool_rounds = Some(4);
        let runtime = Runtime::new(world.library.clone(), options);
        Self { world, runtime, root, _database: database }
    }

    async fn session(&self) -> Uuid {
        let input = CreateSession {
            persona: name("helper"),
            scope: None,
            mode: None,
            model: None,
            overrides: BTreeMap::new(),
            root: None,
            greeting: None,
        };
        self.runtime.create_session(input).await.unwrap().session.id
    }

    /// Says something, checks what must hold, and shows what happened.
    async fn say(&self, id: Uuid, content: &str) -> (Vec<Event>, SessionView) {
        let options = SendOptions { policy: ApprovalPolicy::All, ..SendOptions::default() };
        let mut events = self.runtime.send(id, content.to_owned(), options).await.unwrap();
        let mut heard = Vec::new();
        while let Some(told) = events.next().await.unwrap() {
            heard.push(told.event.clone());
        }
        let view = self.runtime.session(id).await.unwrap();
        println!("> {content}\n{}", shown(&heard));
        lawful(&heard, &view);
        (heard, view)
    }
}

fn shown(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        let _ = match event {
            Event::TextDelta { .. } => continue,
            Event::TextComplete { content, .. } => writeln!(text, "  text: {content}"),
            Event::ToolCall { call, .. } => writeln!(text, "  call {} {:?}", call.name, call.input),
            Event::ToolResult { output, is_error, .. } => {
                writeln!(text, "  result {is_error:?}: {}", output.chars().take(80).collect::<String>())
            }
            other => writeln!(text, "  {}", serde_json::to_string(other).unwrap()),
        };
    }
    text
}

/// Invariants that hold for every reply of a model.
fn lawful(events: &[Event], view: &SessionView) {
    assert!(matches!(events.last(), Some(Event::Done { .. })), "a run has a named end");
    let mut streamed = String::new();
    for event in events {
        match event {
            Event::TextDelta { content } => streamed.push_str(content),
            Event::TextComplete { content, .. } => {
                assert_eq!(*content, std::mem::take(&mut streamed), "a text is what was streamed of it");
            }
            Event::TextDiscarded { .. } => streamed.clear(),
            _ => {}
        }
    }
    let ids = |of: fn(&Turn) -> Option<&str>| -> Vec<String> {
        let mut ids: Vec<String> = view.turns.iter().filter_map(of).map(str::to_owned).collect();
        ids.sort();
        ids
    };
    let calls = ids(|turn| match &turn.body {
        TurnBody::ToolCall { call, .. } => Some(&call.id),
        _ => None,
    });
    let results = ids(|turn| match &turn.body {
        TurnBody::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        _ => None,
    });
    assert_eq!(calls, results, "every call has one result");
    let stored = |id: &Uuid| view.turns.iter().any(|turn| turn.id == *id);
    for event in events {
        if let Event::TextComplete { id, .. } | Event::ToolCall { id, .. } | Event::ToolResult { id, .. } =
            event
        {
            assert!(stored(id), "what was announced is stored");
        }
    }
}

fn end(events: &[Event]) -> End {
    match events.last() {
        Some(Event::Done { stop_reason }) => *stop_reason,
        other => panic!("{other:?} is not an end"),
    }
}

async fn in_each_protocol(test: impl AsyncFn(&Live)) {
    let url = std::env::var(VARIABLE).unwrap_or_else(|_| panic!("{VARIABLE} is not set"));
    for kind in [Kind::OpenaiChat, Kind::OpenaiResponses, Kind::Anthropic] {
        println!("--- {kind}");
        let live = Live::open(kind, &url).await;
        test(&live).await;
        live.runtime.stop().await;
        live.world.library.close().await;
    }
}

#[cfg_attr(feature = "live-tests", tokio::test(flavor = "multi_thread"))]
async fn basic_reply_persistence_and_a_fresh_session() {
    in_each_protocol(async |live| {
        let id = live.session().await;
        let (events, view) = live.say(id, "Say hello. My name is Bo.").await;
        assert_ne!(end(&events), End::Failed);
        assert!(view.session.usage.output_tokens > 0, "usage is counted");
        let (_, view) = live.say(id, "What is my name?").await;
        let users = view.turns.iter().filter(|turn| matches!(turn.body, TurnBody::User { .. })).count();
        assert_eq!(users, 2, "the first message is remembered");
        let fresh = live.session().await;
        let (_, view) = live.say(fresh, "What is my name?").await;
        let said = serde_json::to_string(&view.turns).unwrap();
        assert!(!said.contains("Bo"), "a fresh session remembers nothing: {said}");
    })
    .await;
}

#[cfg_attr(feature = "live-tests", tokio::test(flavor = "multi_thread"))]
async fn tools_that_read_write_and_fail() {
    in_each_protocol(async |live| {
        let id = live.session().await;
        live.say(id, "Read the file notes.txt with read_file and tell me the secret word.").await;
        live.say(id, "Write the word heron into the file out.txt with write_file.").await;
        println!("  out.txt: {:?}", std::fs::read_to_string(live.root.path().join("out.txt")).ok());
        let other = live.session().await;
        live.say(other, "Use read_file on missing.txt. If that fails, say that it is missing.").await;
        live.say(other, "Read notes.txt and missing.txt, both at once.").await;
    })
    .await;
}

#[cfg_attr(feature = "live-tests", tokio::test(flavor = "multi_thread"))]
async fn cancelling_a_real_answer() {
    in_each_protocol(async |live| {
        let id = live.session().await;
        let content = "Count from one to one hundred in words.".to_owned();
        let mut events = live.runtime.send(id, content, SendOptions::default()).await.unwrap();
        while let Some(told) = events.next().await.unwrap() {
            if matches!(told.event, Event::TextDelta { .. } | Event::Done { .. }) {
                break;
            }
        }
        let started = std::time::Instant::now();
        live.runtime.cancel(id).await.unwrap();
        while events.next().await.unwrap().is_some() {}
        assert!(started.elapsed().as_secs_f64() < 1.0, "{:?}", started.elapsed());
        live.say(id, "Say hello.").await;
    })
    .await;
}
