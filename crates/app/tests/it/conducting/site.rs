//! A project in git, a scripted model for every part in a track, and a runtime that works tracks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use app::inputs::{ByTrack, StartTrack, WatchTrack};
use app::outputs::{TicketBoard, TrackBoard};
use app::{Author, Runtime, RuntimeOptions};
use conductor::{Phase, State};
use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::running::stage::options;
use crate::world::{World, in_each_world, input};

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a board is looked at if its track has no news.
const LOOK: Duration = Duration::from_millis(50);

/// Checks a language of two words, and runs its tests: what is called must be defined, and a file must say
/// what a test says that it says.
const CHECK: &str = r#"#!/bin/sh
cat src/* | sed -n 's/^call //p' | while read -r name; do
    cat src/* | grep -qx "def $name" || { echo "$name is not defined"; exit 1; }
done || exit 1
cat tests/*.test.js | sed -n 's/^test("\(.*\) says \(.*\)".*/\1 \2/p' | while read -r file word; do
    grep -q "$word" "$file" || { echo "$file does not say $word"; exit 1; }
done || exit 1
echo "all green"
"#;

/// The tests of the project.
pub(crate) const TESTS: &str =
    "test(\"src/words says hello\", () => {});\ntest(\"src/words says world\", () => {});\n";

/// A project, and everything that works its tracks.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    pub(crate) world: &'a World,
    pub(crate) model: Rehearsal,
    pub(crate) runtime: Runtime,
    pub(crate) project: TempDir,
    home: TempDir,
}

/// Runs a test on a fresh project, over each engine.
pub(crate) async fn on_site(play: Play, test: impl AsyncFn(&Site<'_>)) {
    on_site_with(play, |_| (), test).await;
}

/// The same with other settings of the runtime.
pub(crate) async fn on_site_with(
    play: Play,
    change: impl Fn(&mut RuntimeOptions),
    test: impl AsyncFn(&Site<'_>),
) {
    let script = play.text();
    in_each_world(async |world| {
        let site = Site::open(world, &script, &change).await;
        test(&site).await;
        site.runtime.stop().await;
    })
    .await;
}

impl<'a> Site<'a> {
    async fn open(world: &'a World, script: &str, change: impl Fn(&mut RuntimeOptions)) -> Self {
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}\n{script}"));
        let model = Rehearsal::start_local(script).await.unwrap();
        let (project, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let mut options = options(&model, project.path());
        options.worktrees = Some(home.path().join("worktrees"));
        change(&mut options);
        let runtime = Runtime::new(world.library.clone(), options);
        let site = Self { world, model, runtime, project, home };
        site.write("check.sh", CHECK);
        std::fs::set_permissions(site.path("check.sh"), Permissions::from_mode(0o755)).unwrap();
        site.write("src/greet", "def greet\n");
        site.write("src/main", "call greet\n");
        site.write("src/words", "hello\nworld\n");
        site.write("tests/words.test.js", TESTS);
        site.write("README.md", "A project of two words.\n");
        site.write(".gitignore", ".env\n");
        site.git(&["init", "--quiet", "--initial-branch=main"]);
        site.commit("Begin");
        site
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project.path().join(path)
    }

    /// Writes a file of the user's checkout.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.project.path(), arguments)
    }

    /// Commits everything that git does not ignore.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&[
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "commit",
            "--quiet",
            "-m",
            message,
        ]);
    }

    /// The directory of the worktrees.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn author(&self) -> &Author {
        &self.world.author
    }

    /// Creates a track. Fails the test if it has mistakes.
    pub(crate) async fn create(&self, track: &Value) -> Uuid {
        self.runtime.create_track(input(json!({ "track": track }))).await.unwrap().id
    }

    /// Creates a track and starts it. Parts of tickets need no approval.
    pub(crate) async fn start(&self, track: &Value) -> Uuid {
        let id = self.create(track).await;
        self.start_with(id, json!({ "yes": true })).await;
        id
    }

    pub(crate) async fn start_with(&self, id: Uuid, mut how: Value) -> TrackBoard {
        how["id"] = json!(id);
        self.runtime.start_track(self.author(), input::<StartTrack>(how)).await.unwrap()
    }

    pub(crate) async fn board(&self, id: Uuid) -> TrackBoard {
        self.runtime.get_track(ByTrack { id }).await.unwrap()
    }

    /// The board, as soon as it is as described.
    pub(crate) async fn until(
        &self,
        id: Uuid,
        what: &str,
        holds: impl Fn(&TrackBoard) -> bool,
    ) -> TrackBoard {
        until(&self.runtime, id, what, holds).await
    }

    /// Another process, as it were, with the same library, project and model.
    pub(crate) async fn restarted(&self) -> Runtime {
        let mut options = options(&self.model, self.project.path());
        options.worktrees = Some(self.home.path().join("worktrees"));
        Runtime::new(self.world.reopened(|_| ()).await, options)
    }

    /// The board once nothing can be done without a person.
    pub(crate) async fn settled(&self, id: Uuid) -> TrackBoard {
        let rests =
            |board: &TrackBoard| matches!(board.phase, Phase::Waiting | Phase::Finished | Phase::Cancelled);
        self.until(id, "it comes to rest", rests).await
    }

    /// The board once a ticket is in a state.
    pub(crate) async fn reaches(&self, id: Uuid, name: &str, state: State) -> TrackBoard {
        let what = format!("{name} is {state}");
        self.until(id, &what, |board| {
            board.tickets.iter().any(|it| it.id.as_str() == name && it.state == state)
        })
        .await
    }

    pub(crate) async fn report(&self, id: Uuid) -> String {
        self.runtime.track_report(ByTrack { id }).await.unwrap().markdown
    }

    /// Answers a ticket's question.
    pub(crate) async fn answer(&self, id: Uuid, ticket: &str, answer: &str) {
        let answer = json!({ "id": id, "ticket": ticket, "answer": answer });
        self.runtime.answer_ticket(self.author(), input(answer)).await.unwrap();
    }

    /// The events of the log by their names.
    pub(crate) async fn events(&self, id: Uuid) -> Vec<Value> {
        let last = self.board(id).await.seq;
        let mut events = self.runtime.watch_track(WatchTrack { id, after: None }).await.unwrap();
        let mut recorded = Vec::new();
        while let Some(event) = events.next().await.unwrap() {
            let Some(seq) = event.seq() else { continue };
            recorded.push(serde_json::to_value(&event).unwrap()["recorded"].clone());
            if seq >= last {
                break;
            }
        }
        recorded
    }

    /// The texts that a model was sent, in order: the last message of the user, or the last result.
    pub(crate) fn sent_to(&self, model: &str) -> Vec<Value> {
        let requests = self.model.requests().into_iter().map(|recorded| recorded.body);
        requests.filter(|body| body["model"] == model).collect()
    }

    /// The integration branch's file, or nothing if it has none.
    pub(crate) fn merged_file(&self, board: &TrackBoard, path: &str) -> Option<String> {
        let branch = board.branch.as_deref().expect("the track has a branch");
        let output = command(self.project.path(), &["show", &format!("{branch}:{path}")]).output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// The commits of the integration branch, oldest first.
    pub(crate) fn merged_commits(&self, board: &TrackBoard) -> Vec<String> {
        let branch = board.branch.as_deref().expect("the track has a branch");
        let list = self.git(&["rev-list", "--reverse", &format!("main..{branch}")]);
        list.lines().map(str::to_owned).collect()
    }

    /// Fails if the check is red on a commit of the integration branch.
    pub(crate) fn assert_every_commit_builds(&self, board: &TrackBoard) {
        let clone = TempDir::new().unwrap();
        let from = self.project.path().to_str().unwrap();
        git(clone.path(), &["clone", "--quiet", "--no-checkout", from, "."]);
        for commit in self.merged_commits(board) {
            git(clone.path(), &["checkout", "--quiet", "--detach", &commit]);
            let run = Command::new("./check.sh").current_dir(clone.path()).output().unwrap();
            let shown = String::from_utf8_lossy(&run.stdout).into_owned();
            assert!(run.status.success(), "{commit}: {shown}");
        }
    }

    /// Everything of the user's checkout: files, index, head, branches.
    pub(crate) fn checkout(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        files(self.project.path(), self.project.path(), &mut found);
        for name in ["HEAD", "index"] {
            found.insert(format!("git {name}"), std::fs::read(self.path(".git").join(name)).unwrap());
        }
        let status =
            self.git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=all", "--ignored"]);
        found.insert("status".to_owned(), status.into_bytes());
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let own = refs.lines().filter(|line| !line.contains("/masque/")).collect::<Vec<_>>().join("\n");
        found.insert("references".to_owned(), own.into_bytes());
        found.insert("config".to_owned(), std::fs::read(self.path(".git/config")).unwrap());
        found
    }
}

/// The board of a runtime, as soon as it is as described.
pub(crate) async fn until(
    runtime: &Runtime,
    id: Uuid,
    what: &str,
    holds: impl Fn(&TrackBoard) -> bool,
) -> TrackBoard {
    let waiting = async {
        loop {
            let board = runtime.get_track(ByTrack { id }).await.unwrap();
            if holds(&board) {
                return board;
            }
            // What sessions wait for is in no event of the track.
            let watch = WatchTrack { id, after: Some(board.seq) };
            let mut events = runtime.watch_track(watch).await.unwrap();
            let _ = tokio::time::timeout(LOOK, events.next()).await;
        }
    };
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(board) => board,
        Err(_) => panic!("{what}: {}", runtime.track_report(ByTrack { id }).await.unwrap().markdown),
    }
}

fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = command(directory, arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn files(root: &Path, directory: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() {
            files(root, &path, found);
            continue;
        }
        let mode = path.symlink_metadata().unwrap().permissions().mode();
        let name = format!("{} {mode:o}", path.strip_prefix(root).unwrap().display());
        found.insert(name, std::fs::read(&path).unwrap());
    }
}

/// A ticket of a board.
#[track_caller]
pub(crate) fn ticket<'a>(board: &'a TrackBoard, id: &str) -> &'a TicketBoard {
    let found = board.tickets.iter().find(|ticket| ticket.id.as_str() == id);
    found.unwrap_or_else(|| panic!("{id} is not on the board"))
}

/// The states of a board's tickets, as `T1 merged, T2 failed`.
pub(crate) fn states(board: &TrackBoard) -> String {
    let states = board.tickets.iter().map(|ticket| format!("{} {}", ticket.id, ticket.state));
    states.collect::<Vec<_>>().join(", ")
}

/// A track whose workers have the model `stage/worker`, without reviews. Fields replace those of the track.
pub(crate) fn track(fields: Value) -> Value {
    let mut track = json!({
        "title": "Two words", "goal": "The project says what it should.", "check": "./check.sh",
        "review": { "enabled": false },
        "escalation": { "split": false, "backoff": 0 },
        "mma": { "default_models": {
            "Tier 1": "stage/planner", "Tier 2": "stage/lead", "Tier 3": "stage/worker", "Tier 4": "stage/reviewer",
        } },
    });
    merge(&mut track, fields);
    track
}

fn merge(into: &mut Value, fields: Value) {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    for (name, value) in fields {
        into[name.as_str()] = value;
    }
}

/// What a worker hands in.
pub(crate) fn done(summary: &str) -> (&'static str, Value) {
    ("submit_work", json!({ "outcome": "done", "summary": summary }))
}

pub(crate) fn write_file(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

pub(crate) fn ask(question: &str) -> (&'static str, Value) {
    ("ask_question", json!({ "question": question }))
}

pub(crate) fn run_check() -> (&'static str, Value) {
    ("run_check", json!({}))
}

/// What a reviewer hands in.
#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
pub(crate) fn review(verdict: &str, findings: Value) -> (&'static str, Value) {
    ("submit_review", json!({ "verdict": verdict, "summary": "I read it.", "findings": findings }))
}

/// The script of a model: replies to messages, in order. After the results of tools it ends its turn.
#[derive(Debug, Default, Clone)]
pub(crate) struct Play {
    replies: String,
}

impl Play {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A model calls tools when a message with these words is the last one.
    pub(crate) fn calls(self, model: &str, words: &str, calls: &[(&str, Value)]) -> Self {
        self.reply(&format!("model = {}, last_user = {}", quoted(model), quoted(words)), &say(calls))
    }

    /// The same once.
    pub(crate) fn calls_once(self, model: &str, words: &str, calls: &[(&str, Value)]) -> Self {
        let when = format!("model = {}, last_user = {}", quoted(model), quoted(words));
        self.reply(&when, &format!("times = 1\n{}", say(calls)))
    }

    /// A model says something when a message with these words is the last one.
    pub(crate) fn says(self, model: &str, words: &str, text: &str) -> Self {
        let when = format!("model = {}, last_user = {}", quoted(model), quoted(words));
        self.reply(&when, &format!("text = {}", quoted(text)))
    }

    /// A reply in the words of scripts.
    pub(crate) fn reply(mut self, when: &str, reply: &str) -> Self {
        let _ = write!(self.replies, "[[reply]]\nwhen = {{ {when} }}\n{reply}\n");
        self
    }

    fn text(&self) -> String {
        format!(
            "strict = true\n{}[[reply]]\nwhen = {{ tool_result = \"\" }}\ntext = \"That is it.\"\n",
            self.replies
        )
    }
}

pub(crate) fn say(calls: &[(&str, Value)]) -> String {
    let piece =
        |(tool, input): &(&str, Value)| format!("{{ tool = {}, input = {} }}", quoted(tool), inline(input));
    format!("say = [{}]", calls.iter().map(piece).collect::<Vec<_>>().join(", "))
}

/// A text in TOML: the escapes of JSON are among its own.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A value in one line of TOML.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{} = {}", quoted(name), inline(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// All that a request has, as one text.
pub(crate) fn text_of(sent: &Value) -> String {
    let messages = sent["messages"].as_array().expect("messages");
    messages.iter().filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The last message of the user in a request.
pub(crate) fn last_user(sent: &Value) -> &str {
    let messages = sent["messages"].as_array().expect("messages");
    let last = messages.iter().rev().find(|message| message["role"] == "user").expect("a user's message");
    last["content"].as_str().expect("a text")
}
