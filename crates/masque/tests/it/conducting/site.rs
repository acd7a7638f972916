//! A project in git, a scripted model, and processes that work the project's tracks.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::Database;

use crate::home::{CommandOutput, Refused};
use crate::rehearsed::Rehearsed;
use crate::terminal::Terminal;

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The project's directory below the home.
const PROJECT: &str = "work";

/// Green unless a file of the project says that it is bad. Where a worker leaves a `.slow`, which git ignores,
/// it is silent for that many seconds first.
const CHECK: &str = r#"#!/bin/sh
if [ -e .slow ]; then sleep "$(cat .slow)"; fi
if grep -qx bad src/*; then echo "something is bad"; exit 1; fi
echo "all green"
"#;

/// Tokens of each answer.
pub(crate) const TOKENS: u64 = 110;

pub(crate) struct Site {
    pub(crate) rehearsed: Rehearsed,
    /// The value of `--db`, unless the default is used.
    db: Option<String>,
}

impl Site {
    /// A project on the default database, and a model that answers like this.
    pub(crate) fn new(replies: &[Value]) -> Self {
        Self::open(replies, None)
    }

    /// The same on another database.
    pub(crate) fn on(database: &Database, replies: &[Value]) -> Self {
        Self::open(replies, Some(database.location.clone()))
    }

    fn open(replies: &[Value], db: Option<String>) -> Self {
        let mut replies = replies.to_vec();
        replies.push(json!({ "when": { "tool_result": "" }, "text": "That is it." }));
        for reply in &mut replies {
            reply["usage"] = json!({ "input": TOKENS - 10, "output": 10 });
        }
        let script = json!({ "strict": true, "reply": replies });
        let site = Self { rehearsed: Rehearsed::new(&toml::to_string(&script).unwrap()), db };
        site.write("check.sh", CHECK);
        let is_program = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(site.path("check.sh"), is_program).unwrap();
        site.write("src/words", "hello\nworld\n");
        site.write(".gitignore", ".slow\ntrack.toml\n");
        site.git(&["init", "--quiet", "--initial-branch=main"]);
        site.commit("Begin");
        site
    }

    /// A path below the project.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.rehearsed.home.path(PROJECT).join(below)
    }

    /// Writes a file of the user's checkout.
    pub(crate) fn write(&self, below: &str, text: &str) {
        self.rehearsed.home.write(&format!("{PROJECT}/{below}"), text);
    }

    /// Writes the project's track.toml. Fields replace those of [`track`].
    pub(crate) fn write_track(&self, fields: &Value) {
        self.write("track.toml", &toml::to_string(&track(fields)).unwrap());
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(""), arguments)
    }

    /// Commits everything that git does not ignore.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        commit(&self.path(""), message);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.rehearsed.command(arguments);
        // Where git is. The tests' own PATH has it.
        command.env("PATH", std::env::var_os("PATH").unwrap());
        if let Some(db) = &self.db {
            command.args(["--db", db]);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::of(self.command(arguments).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).ok()
    }

    /// Runs a command with `--json` that must succeed.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    #[track_caller]
    pub(crate) fn refused(&self, code: &str, arguments: &[&str]) -> Refused {
        self.run(&[&["--json"], arguments].concat()).refused_with(code)
    }

    /// Runs `masque conduct …` on the project's track to its end, and returns its lines.
    #[track_caller]
    pub(crate) fn conduct(&self, code: i32, arguments: &[&str]) -> Vec<Value> {
        let (ended, lines) = self.start(arguments).ends();
        assert_eq!(ended, code, "{:#?}", lines.last());
        lines
    }

    /// Starts `masque conduct …` with `--json`.
    pub(crate) fn start(&self, arguments: &[&str]) -> Process {
        Process::start(self.command(&[&["conduct", "--json"], arguments].concat()))
    }

    pub(crate) fn terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(self.command(arguments))
    }

    pub(crate) fn board(&self, id: &str) -> Value {
        self.json(&["conduct", "show", id])
    }

    /// The events of a track's log.
    pub(crate) fn log(&self, id: &str) -> Vec<Value> {
        let lines = self.ok(&["conduct", "log", id, "--json"]);
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].take()).collect()
    }

    /// The subjects of the commits that the track merged, oldest first.
    pub(crate) fn merged(&self, board: &Value) -> Vec<String> {
        let range = format!("main..{}", board["branch"].as_str().unwrap());
        let list = self.git(&["log", "--reverse", "--format=%s", &range]);
        list.lines().map(str::to_owned).collect()
    }

    /// A file of the track's branch.
    pub(crate) fn merged_file(&self, board: &Value, path: &str) -> String {
        self.git(&["show", &format!("{}:{path}", board["branch"].as_str().unwrap())])
    }

    /// The directory of a ticket's worktree.
    pub(crate) fn worktree(&self, ticket: &str) -> PathBuf {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        let ending = format!("/{ticket}");
        let found = list.lines().filter_map(|line| line.strip_prefix("worktree "));
        let found: Vec<&str> = found.filter(|path| path.ends_with(&ending)).collect();
        let [path] = found.as_slice() else { panic!("{ticket}: {list}") };
        PathBuf::from(path)
    }

    /// The default database.
    pub(crate) fn database(&self) -> Database {
        match &self.db {
            Some(location) => Database::at(location),
            None => Database::sqlite_at(&self.rehearsed.home.path(".local/share/masque/masque.db")),
        }
    }

    /// The first column of the rows of a statement.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        block_on(self.database().texts(sql))
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Commits what is staged.
pub(crate) fn commit(directory: &Path, message: &str) {
    let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    git(directory, &[&author[..], &["commit", "--quiet", "-m", message]].concat());
}

/// A track of one ticket whose workers have the model `test/worker`, without reviews.
pub(crate) fn track(fields: &Value) -> Value {
    let mut track = json!({
        "title": "Two words", "goal": "The project says more.", "check": "./check.sh",
        "review": { "enabled": false },
        "escalation": { "split": false, "backoff": 0 },
        "mma": { "default_models": {
            "Tier 1": "test/planner", "Tier 2": "test/lead", "Tier 3": "test/worker", "Tier 4": "test/reviewer",
        } },
        "tickets": [ticket("T1", &[])],
    });
    for (name, value) in fields.as_object().unwrap() {
        track[name] = value.clone();
    }
    track
}

pub(crate) fn ticket(id: &str, depends_on: &[&str]) -> Value {
    json!({ "id": id, "title": format!("Say {id}"), "depends_on": depends_on })
}

/// A model calls tools after a message with these words.
pub(crate) fn calls(model: &str, words: &str, calls: &[(&str, Value)]) -> Value {
    json!({ "when": { "model": model, "last_user": words }, "say": say(calls) })
}

/// A model calls tools after the result of a tool, in a conversation whose last message has these words.
pub(crate) fn then(model: &str, words: &str, tool: &str, calls: &[(&str, Value)]) -> Value {
    json!({ "when": { "model": model, "last_user": words, "tool_result_of": tool }, "say": say(calls) })
}

/// A model calls tools after its process died: between two answers, or before the result of a call was stored.
pub(crate) fn goes_on(model: &str, calls: &[(&str, Value)]) -> [Value; 2] {
    let go_on = "Go on where you stopped.";
    let cut_off = json!({ "model": model, "last_user": go_on, "tool_result": "This tool was interrupted" });
    [json!({ "when": cut_off, "say": say(calls) }), self::calls(model, go_on, calls)]
}

fn say(calls: &[(&str, Value)]) -> Vec<Value> {
    calls.iter().map(|(tool, input)| json!({ "tool": tool, "input": input })).collect()
}

/// The same reply, with other keys.
pub(crate) fn with(mut reply: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        reply[name] = value.clone();
    }
    reply
}

/// A worker who adds a file and hands in.
pub(crate) fn adds(ticket: &str) -> Value {
    let path = format!("src/{ticket}");
    calls("worker", &format!("# {ticket}:"), &[write_file(&path, "here\n"), done("I added it.")])
}

pub(crate) fn write_file(path: &str, content: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": content }))
}

pub(crate) fn done(summary: &str) -> (&'static str, Value) {
    ("submit_work", json!({ "outcome": "done", "summary": summary }))
}

pub(crate) fn ask(question: &str) -> (&'static str, Value) {
    ("ask_question", json!({ "question": question }))
}

/// A ticket of a board.
#[track_caller]
pub(crate) fn ticket_of<'a>(board: &'a Value, id: &str) -> &'a Value {
    let found = board["tickets"].as_array().unwrap().iter().find(|ticket| ticket["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not in {board:#}"))
}

/// The states of a board's tickets, as `T1 merged, T2 failed`.
pub(crate) fn states(board: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let tickets = board["tickets"].as_array().unwrap().iter();
    tickets.map(|it| format!("{} {}", word(&it["id"]), word(&it["state"]))).collect::<Vec<_>>().join(", ")
}

/// The event of a line, or null.
pub(crate) fn event(line: &Value) -> &Value {
    &line["recorded"]["event"]
}

/// Waits for something that has to come.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: it does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process that works a track, and prints what happens as lines of JSON.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<Value>,
    errors: Option<JoinHandle<String>>,
}

impl Process {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Self { child, lines, seen: Vec::new(), errors: Some(errors) }
    }

    /// Waits for a line. `None` if the process ends without it.
    #[track_caller]
    pub(crate) fn sees(&mut self, mut holds: impl FnMut(&Value) -> bool) -> Option<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("nothing more happens after {:#?}", self.seen.last())
                }
            };
            let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            self.seen.push(line.clone());
            if holds(&line) {
                return Some(line);
            }
        }
    }

    /// The track's id, which is in the first line.
    #[track_caller]
    pub(crate) fn track(&mut self) -> String {
        match self.sees(|line| line["type"] == "board") {
            Some(line) => line["id"].as_str().unwrap().to_owned(),
            None => panic!("it does not begin: {}", self.errors.take().unwrap().join().unwrap()),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it, like a power failure.
    pub(crate) fn dies(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end. Returns the exit code and all lines.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (i32, Vec<Value>) {
        assert!(self.sees(|_| false).is_none());
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let errors = self.errors.take().unwrap().join().unwrap();
        eprintln!("{errors}");
        (code, std::mem::take(&mut self.seen))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
