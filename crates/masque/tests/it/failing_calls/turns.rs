//! The turns of a session: a turn is stored before it is printed.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::Database;

use super::library::{Kept, block_on, database};
use super::{Ended, Workload, walk};
use crate::home::{CommandOutput, Home};
use crate::rehearsed::Rehearsed;
use crate::strace::Tracer;

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "list_files" }
text = "There is {{tool_result}}"

[[reply]]
say = [{ text = "I look." }, { tool = "list_files", input = { path = "." } }]
"#;

/// The exit code for a session that is not there. `run` removes one whose first message was not stored.
const MISSING: i32 = 3;

#[test]
fn calls_that_fail_during_a_run_lose_no_printed_turn() {
    walk("turns", &Turns::new());
}

pub(crate) struct Turns {
    pub(crate) rehearsed: Rehearsed,
    pub(crate) kept: Kept,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let rehearsed = Rehearsed::new(SCRIPT);
        rehearsed.home.ok(&["list"]);
        let kept = Kept::of(&rehearsed.home, &[".local"]);
        Self { rehearsed, kept }
    }

    /// Runs a persona under a tracer.
    pub(crate) fn run_restored(&self, tracer: &Tracer) -> CommandOutput {
        let home = &self.rehearsed.home;
        let mut command = tracer.command(home, &[]);
        command.current_dir(home.path("work")).args(["run", "worker", "List the files.", "--json"]);
        CommandOutput::of(command.output().unwrap())
    }
}

/// The turns of printed events, by id: what they say or call.
pub(crate) fn printed(stdout: &str) -> BTreeMap<String, Value> {
    let events = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut turns = BTreeMap::new();
    for event in events {
        let discarded = event["turnIds"].as_array().map(Vec::as_slice).unwrap_or_default();
        for id in discarded.iter().filter_map(Value::as_str) {
            turns.remove(id);
        }
        turns.extend(event["id"].as_str().map(|id| (id.to_owned(), text_of(&event))));
    }
    turns
}

/// The session that a run printed first.
pub(crate) fn session(stdout: &str) -> Option<String> {
    let first: Value = serde_json::from_str(stdout.lines().next()?).ok()?;
    first["sessionId"].as_str().map(str::to_owned)
}

/// The turns of a stored session, by id; none if there is no such session. The user's is among them.
pub(crate) fn stored(home: &Home, session: &str) -> BTreeMap<String, Value> {
    let shown = home.run(&["sessions", "show", session, "--json"]);
    if shown.code == MISSING {
        return BTreeMap::new();
    }
    let shown: Value = serde_json::from_str(&shown.ok()).unwrap();
    let turns = shown["turns"].as_array().expect("turns");
    turns.iter().map(|turn| (turn["id"].as_str().expect("an id").to_owned(), text_of(turn))).collect()
}

fn text_of(turn: &Value) -> Value {
    ["content", "input", "output"].into_iter().map(|field| turn[field].clone()).collect()
}

impl Workload for Turns {
    fn run(&self, tracer: &Tracer) -> Vec<Ended> {
        let home = &self.rehearsed.home;
        self.kept.restore(home);
        let output = self.run_restored(tracer);
        if let Some(session) = session(&output.stdout) {
            let stored = stored(home, &session);
            for (id, turn) in printed(&output.stdout) {
                assert_eq!(stored.get(&id), Some(&turn), "{output:#?}\n{stored:#?}");
            }
        }
        let database = Database::sqlite_at(&database(&home.path("")));
        block_on(async {
            assert_eq!(database.texts("PRAGMA integrity_check").await, ["ok"]);
            assert!(database.texts("PRAGMA foreign_key_check").await.is_empty());
            let behind = "SELECT id FROM sessions s WHERE last_seq < \
                          (SELECT max(seq) FROM session_log WHERE session_id = s.id)";
            assert!(database.texts(behind).await.is_empty());
        });
        vec![Ended { acknowledged: output.code == 0, errors: output.stderr }]
    }

    fn directory(&self) -> String {
        self.rehearsed.home.path("").display().to_string()
    }
}
