//! Processes that are killed in the middle of a run: everything that they announced is stored, and
//! another process continues the session.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use agent::{ApprovalAnswer, End, Entry, Event, Mode, Note, SessionStatus, TurnBody};
use app::running::{ApprovalPolicy, SendOptions};
use app::{Library, OpenOptions, Runtime};
use chrono::Utc;
use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use uuid::Uuid;

use super::stage::{Stage, assert_whole, end, hear, on_stage, options_at, requests, results, turns};

/// The variable with a child's arguments: `SESSION DATABASE MODEL ROOT`, one per line.
const CHILD: &str = "MASQUE_TEST_CHILD_RUNS_SESSION";
/// The test that is also the child's entry.
const TEST: &str = "running::crashing::a_killed_process_leaves_every_announced_turn_and_a_usable_session";
/// The number of killed processes.
const KILLED: u64 = 6;

const BUSY: &str = r#"
pace_ms = 2
[[reply]]
when = { last_user = "/hello$/" }
text = "Here I am."
[[reply]]
say = [
    { text = "one two three four five six" },
    { tool = "read_file", input = { path = "file-{{call}}" } },
    { tool = "run_command", input = { command = "sleep 0.5; echo {{call}}" } },
]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_leaves_every_announced_turn_and_a_usable_session() {
    if let Ok(child) = std::env::var(CHILD) {
        return run_as_child(&child).await;
    }
    on_stage(BUSY, async |stage| {
        let mut random = StdRng::seed_from_u64(4);
        let location = stage.location().await;
        let mut told = Vec::new();
        for number in 0..KILLED {
            let id = stage.session(Mode::Build).await;
            let after = Duration::from_millis(random.random_range(5..700));
            let moment = if number == 0 { Moment::InCommand } else { Moment::After(after) };
            let child = [id.to_string(), location.clone(), stage.model.url()].join("\n");
            let child = format!("{child}\n{}", stage.root.path().display());
            told.push((id, tokio::task::spawn_blocking(move || run_and_kill(&child, moment))));
        }
        let runtime = stage.restarted().await;
        let mut was_interrupted = 0;
        let checks = told.into_iter().map(|(id, told)| {
            let runtime = &runtime;
            async move {
                let announced = told.await.unwrap();
                let view = runtime.session(id).await.unwrap();
                for turn in &announced {
                    assert!(view.turns.iter().any(|kept| kept.id == *turn), "{turn} of {}", turns(&view));
                }
                let events = runtime.send(id, "hello".to_owned(), SendOptions::default()).await.unwrap();
                let events = super::stage::to_the_end(events).await;
                assert_eq!(end(&events), Some(End::EndTurn));
                let view = runtime.session(id).await.unwrap();
                assert_whole(&view);
                let last = view.turns.iter().rev().find_map(|turn| match &turn.body {
                    TurnBody::AssistantText { content } => Some(content.clone()),
                    _ => None,
                });
                assert_eq!(last.as_deref(), Some("Here I am."));
                results(&view).iter().filter(|(output, _)| output.contains("was interrupted")).count()
            }
        });
        was_interrupted += join_all(checks).await.into_iter().sum::<usize>();
        assert!(was_interrupted > 0, "one of them was killed while a tool ran");
        runtime.stop().await;
    })
    .await;
}

/// When a process is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// After it announced the first turn.
    After(Duration),
    /// While a command of its session runs.
    InCommand,
}

/// Starts a process that runs a session, and kills it. Returns the announced turns.
fn run_and_kill(child: &str, moment: Moment) -> Vec<Uuid> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, child)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    // A line that ends without a full stop was cut off when its writer was killed.
    let told = |line: String| Uuid::parse_str(line.strip_prefix("told ")?.strip_suffix('.')?).ok();
    let mut announced = vec![lines.by_ref().find_map(told).expect("it runs")];
    match moment {
        Moment::After(time) => std::thread::sleep(time),
        Moment::InCommand => {
            let until_command = lines.by_ref().take_while(|line| line != "runs a command.");
            announced.extend(until_command.filter_map(told));
        }
    }
    process.kill().unwrap();
    announced.extend(lines.filter_map(told));
    process.wait().unwrap();
    announced
}

/// The child process of the test above. Runs a session until it is killed.
async fn run_as_child(child: &str) {
    let mut lines = child.lines();
    let mut line = || lines.next().expect("four lines");
    let (id, location, url, root) = (line().parse().unwrap(), line(), line(), line());
    let library = Library::open(OpenOptions::database(location)).await.unwrap();
    let runtime = Runtime::new(library, options_at(url, std::path::Path::new(root)));
    let mut watching = runtime.events(id, None).await.unwrap();
    let options = SendOptions { policy: ApprovalPolicy::All, detached: true, ..SendOptions::default() };
    let _events = runtime.send(id, "work".to_owned(), options).await.unwrap();
    while let Some(told) = watching.next().await.unwrap() {
        match &told.event {
            Event::User { id, .. } | Event::TextComplete { id, .. } | Event::ToolCall { id, .. } => {
                eprintln!("told {id}.");
            }
            // The file was read; the command of the same reply takes longer.
            Event::ToolResult { id, .. } => eprintln!("told {id}.\nruns a command."),
            // Unlikely: the parent kills the process long before.
            Event::Done { .. } => break,
            _ => {}
        }
    }
}

/// Stores an approval, as a process does that is killed before it resumes the session.
pub(crate) async fn answer_only(stage: &Stage<'_>, id: Uuid, call_id: &str) {
    let store = stage.store().await;
    let answer = ApprovalAnswer { approved: true, reason: None, remember: false, answered_at: Utc::now() };
    let note = Note::ApprovalAnswered { tool_use_id: call_id.to_owned(), approved: true };
    let note = Entry::Note { at: Utc::now(), note };
    store.answer_approval(id, call_id, &answer, &note).await.unwrap();
    store.close().await;
}

const WRITES: &str = r#"
[[reply]]
when = { last_user = "/hello$/" }
text = "Here I am."
[[reply]]
say = [{ tool = "write_file", input = { path = "a.txt", content = "A" } }]
"#;

/// An approval was stored, and the process died before it resumed the session.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_waits_for_nothing_any_more_takes_a_message() {
    on_stage(WRITES, async |stage| {
        let id = stage.session(Mode::Build).await;
        let mut events = stage.runtime.send(id, "write".to_owned(), Default::default()).await.unwrap();
        let asked = requests(&hear(&mut events, "approval_request", 1).await);
        drop(events);
        answer_only(stage, id, &asked[0].1).await;
        // The message waits: the process that took the answer may still resume it.
        let early = tokio::time::timeout(Duration::from_secs(1), stage.say(id, "hello")).await;
        assert!(early.is_err(), "{early:?}");
        assert_eq!(stage.view(id).await.session.status, SessionStatus::Waiting);
        let events = stage.say(id, "hello").await;
        assert_eq!(end(&events), Some(End::EndTurn));
        let view = stage.view(id).await;
        assert_whole(&view);
        assert_eq!(turns(&view), "user tool_call tool_result user assistant_text");
        assert!(!stage.file("a.txt").exists());
    })
    .await;
}
