//! Masque doing the exchange: a session, a message, everything stored.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use agent::Event;
use anyhow::{Context as _, Result, ensure};
use app::running::{CreateSession, SendOptions};
use app::{Author, Library, OpenOptions, Runtime, RuntimeOptions};
use persona::Name;
use providers::{Kind, ProviderSettings, Providers};
use rehearsal::{Rehearsal, Script};
use serde_json::json;
use uuid::Uuid;

use super::client::obey;

/// A runtime over a new SQLite library with one persona, whose model is at an address.
pub(super) async fn runtime(url: &str, directory: &Path) -> Result<Runtime> {
    let library =
        Library::open(OpenOptions::database(directory.join("loop.db").display().to_string())).await?;
    let root = directory.join("root");
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("notes.txt"), "the answer is 42\n")?;
    let persona = json!({
        "name": "reader", "system_prompt": "You read notes and say what they mean.",
        "preferred_models": [{ "provider": "stage", "model": "actor" }],
    });
    library.create_persona(&Author::new("bench", "bench"), serde_json::from_value(persona)?).await?;
    let mut settings = ProviderSettings::new(Kind::OpenaiChat);
    settings.base_url = Some(format!("{}/v1", url.trim_end_matches('/')));
    settings.proxy = Some("none".to_owned());
    let providers = Providers::build(BTreeMap::from([("stage".to_owned(), settings)]), &|_| None)?;
    let mut options = RuntimeOptions::new(providers);
    options.root = Some(root);
    Ok(Runtime::new(library, options))
}

pub(super) fn session() -> Result<CreateSession> {
    Ok(CreateSession {
        persona: Name::parse("reader")?,
        scope: None,
        mode: None,
        model: None,
        overrides: BTreeMap::new(),
        root: None,
        greeting: None,
    })
}

/// Long sessions take turns, so that a batch makes each of them little longer.
const LONG_SESSIONS: usize = 10;

/// Sends each message to a session that has had so many messages before: a new one for none.
pub(crate) async fn subject(url: &str, directory: &str, earlier: &str) -> Result<()> {
    let earlier: usize = earlier.parse()?;
    let runtime = runtime(url, Path::new(directory)).await?;
    let mut long = VecDeque::new();
    for _ in 0..(if earlier > 0 { LONG_SESSIONS } else { 0 }) {
        long.push_back(session_after(&runtime, earlier).await?);
    }
    let long = Mutex::new(long);
    let preparing = runtime.clone();
    let prepare = || async {
        let next = {
            let mut long = long.lock().unwrap_or_else(PoisonError::into_inner);
            long.rotate_left(usize::from(earlier > 0));
            long.back().copied()
        };
        match next {
            Some(id) => Ok(id),
            None => session_after(&preparing, 0).await,
        }
    };
    obey(prepare, move |id| {
        let runtime = runtime.clone();
        async move { run(&runtime, id).await }
    })
    .await
}

/// A session that has had so many messages.
async fn session_after(runtime: &Runtime, messages: usize) -> Result<Uuid> {
    let id = runtime.create_session(session()?).await?.session.id;
    for _ in 0..messages {
        run(runtime, id).await?;
    }
    Ok(id)
}

/// Sends one message to a session. Returns the time of its first text.
async fn run(runtime: &Runtime, id: Uuid) -> Result<Instant> {
    let mut events = runtime.send(id, "What do the notes mean?".to_owned(), SendOptions::default()).await?;
    let (mut first, mut results) = (None, 0);
    while let Some(told) = events.next().await? {
        match &told.event {
            Event::TextDelta { .. } => drop(first.get_or_insert_with(Instant::now)),
            Event::ToolResult { .. } => results += 1,
            Event::Error { message, .. } => anyhow::bail!("{message}"),
            _ => {}
        }
    }
    ensure!(results == 1, "one tool was run");
    first.context("a first token")
}

/// The requests of one run of Masque after so many others, so that the bare client sends the same.
pub(super) async fn requests(script: &str, earlier: usize) -> Result<Vec<String>> {
    let model = Rehearsal::start_local(Script::parse(script)?).await?;
    let directory = tempfile::TempDir::new()?;
    let runtime = runtime(&model.url(), directory.path()).await?;
    let id = session_after(&runtime, earlier).await?;
    let before = model.requests().len();
    run(&runtime, id).await?;
    Ok(model.requests().into_iter().skip(before).map(|recorded| recorded.body.to_string()).collect())
}
