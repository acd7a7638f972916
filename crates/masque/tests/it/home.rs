//! A new user with an empty home, who runs commands.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_masque");

pub(crate) struct Home {
    directory: TempDir,
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(below)
    }

    /// Writes a file below the home and returns its path.
    pub(crate) fn write(&self, below: &str, content: &str) -> PathBuf {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.path(below)).unwrap()
    }

    /// The program, started in this home with an empty environment.
    pub(crate) fn command(&self) -> Command {
        self.settle(Command::new(PROGRAM))
    }

    /// The program as the last argument of another one, which starts it.
    pub(crate) fn command_under(&self, mut outer: Command) -> Command {
        outer.arg(PROGRAM);
        self.settle(outer)
    }

    fn settle(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.directory.path())
            .env("XDG_CONFIG_HOME", self.path(".config"))
            .env("XDG_DATA_HOME", self.path(".local/share"))
            .env("USER", "tester")
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command in a directory below the home.
    pub(crate) fn run_in(&self, below: &str, arguments: &[&str]) -> CommandOutput {
        let directory = self.path(below);
        std::fs::create_dir_all(&directory).unwrap();
        CommandOutput::of(self.command().current_dir(directory).args(arguments).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::of(self.command().args(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> CommandOutput {
        self.run_in_with_input("", arguments, input)
    }

    pub(crate) fn run_in_with_input(&self, below: &str, arguments: &[&str], input: &str) -> CommandOutput {
        let mut command = self.command();
        command
            .current_dir(self.path(below))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The program may refuse the input before it has read it all.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        CommandOutput::of(child.wait_with_output().unwrap())
    }

    /// Runs a command that must succeed and returns its output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).ok()
    }

    /// Runs a command with `--json` that must succeed and returns the answer.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let answer = self.run(&[arguments, &["--json"]].concat()).ok();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Runs a command with `--json` that must be refused with this code.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str, arguments: &[&str]) -> Refused {
        self.run(&[&["--json"], arguments].concat()).refused_with(code)
    }

    /// The same in a directory below the home.
    #[track_caller]
    pub(crate) fn refused_in(&self, below: &str, code: &str, arguments: &[&str]) -> Refused {
        self.run_in(below, &[&["--json"], arguments].concat()).refused_with(code)
    }

    /// Runs a command with `--json` that must fail and returns its error.
    #[track_caller]
    pub(crate) fn fails_with_error(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).error()
    }

    /// Runs a command that must end with this exit code and returns its standard error.
    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        self.run(arguments).fails(code)
    }
}

impl CommandOutput {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:#?}");
        self.stdout
    }

    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "{self:#?}");
        assert_eq!(self.stdout, "", "standard output has only the answer");
        self.stderr
    }
}

impl CommandOutput {
    /// A refusal of a command with `--json`: an error with this code, and the exit code of its kind.
    #[track_caller]
    pub(crate) fn refused_with(self, code: &str) -> Refused {
        // A run prints its events before it fails.
        let is_clean = self.stdout.is_empty() || self.stdout.starts_with("{\"type\":\"session\"");
        assert!(is_clean, "{self:#?}");
        let error = self.error();
        assert_eq!(error["code"], code, "{error:#}");
        assert_eq!(Some(self.code), exit_code(&error["kind"]), "{error:#}");
        Refused(error)
    }
}

impl CommandOutput {
    /// The error that a command with `--json` ended with.
    #[track_caller]
    fn error(&self) -> Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        let mut told: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        assert_ne!(self.code, 0, "{self:#?}");
        told["error"].take()
    }
}

impl CommandOutput {
    /// The warnings of a command with `--json`.
    #[track_caller]
    pub(crate) fn warnings(&self) -> Vec<Value> {
        let values = self.stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lists = values.filter_map(|mut value| value["warnings"].take().as_array().cloned());
        lists.flatten().collect()
    }

    /// Their codes.
    #[track_caller]
    pub(crate) fn warning_codes(&self) -> Vec<String> {
        let codes = self.warnings().into_iter().map(|warning| warning["code"].as_str().map(str::to_owned));
        codes.map(Option::unwrap_or_default).collect()
    }
}

/// The exit code of a kind of error, as docs/errors.md lists it.
fn exit_code(kind: &Value) -> Option<i32> {
    Some(match kind.as_str()? {
        "broken" => 1,
        "invalid" => 2,
        "missing" => 3,
        "conflict" => 4,
        "denied" => 5,
        "busy" => 6,
        _ => return None,
    })
}

/// An error as data.
#[derive(Debug)]
pub(crate) struct Refused(pub(crate) Value);

impl Refused {
    /// Asserts a field of the subject.
    #[track_caller]
    pub(crate) fn about(self, field: &str, value: impl Into<Value>) -> Self {
        assert_eq!(self.0["subject"][field], value.into(), "{:#}", self.0);
        self
    }

    /// Asserts that the error is about a file whose path ends like this.
    #[track_caller]
    pub(crate) fn in_file(self, path: &str) -> Self {
        let place = self.0["subject"]["place"]["path"].as_str().unwrap_or_default();
        assert!(place.ends_with(path), "{:#}", self.0);
        self
    }

    /// Asserts the line and the column of the place.
    #[track_caller]
    pub(crate) fn at(self, line: usize, column: usize) -> Self {
        let place = &self.0["subject"]["place"];
        assert_eq!((&place["line"], &place["column"]), (&line.into(), &column.into()), "{:#}", self.0);
        self
    }

    /// Asserts one of the candidates.
    #[track_caller]
    pub(crate) fn suggests(self, candidate: &str) -> Self {
        let candidates = self.0["candidates"].as_array();
        assert!(candidates.is_some_and(|all| all.iter().any(|it| it == candidate)), "{:#}", self.0);
        self
    }

    /// Asserts one of the remedies.
    #[track_caller]
    pub(crate) fn offers(self, action: &str) -> Self {
        let remedies = self.0["remedies"].as_array();
        assert!(remedies.is_some_and(|all| all.iter().any(|it| it["action"] == action)), "{:#}", self.0);
        self
    }
}

/// The outcome of a write: `action kind scope:name revision`.
pub(crate) fn outcome(written: &Value) -> String {
    let word = |field: &str| written[field].as_str().unwrap_or_default();
    let (action, kind, scope, name) = (word("action"), word("kind"), word("scope"), word("name"));
    format!("{action} {kind} {scope}:{name} {}", written["revision"])
}

/// The entities of a list: `kind name`, with commas between them.
pub(crate) fn entities(list: &Value) -> String {
    let word = |entity: &Value, field: &str| entity[field].as_str().unwrap_or_default().to_owned();
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let names = list.iter().map(|entity| format!("{} {}", word(entity, "kind"), word(entity, "name")));
    names.collect::<Vec<_>>().join(", ")
}

/// Asserts that a text contains each of the words.
#[track_caller]
pub(crate) fn contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}
