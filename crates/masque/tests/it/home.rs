//! A new user with an empty home, and what the program answers them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct Home {
    directory: TempDir,
}

/// What one run of the program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
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

    /// The program, started in this home and with nothing of the surrounding environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
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
    pub(crate) fn run_in(&self, below: &str, arguments: &[&str]) -> Answer {
        let directory = self.path(below);
        std::fs::create_dir_all(&directory).unwrap();
        Answer::of(self.command().current_dir(directory).args(arguments).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command().args(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Answer {
        self.run_in_with_input("", arguments, input)
    }

    pub(crate) fn run_in_with_input(&self, below: &str, arguments: &[&str], input: &str) -> Answer {
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
        Answer::of(child.wait_with_output().unwrap())
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

    /// Runs a command that must end with this code and returns what it said.
    pub(crate) fn fails(&self, code: i32, arguments: &[&str]) -> String {
        self.run(arguments).fails(code)
    }
}

impl Answer {
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
        assert_eq!(self.stdout, "", "nothing but the answer stands on standard output");
        self.stderr
    }
}

/// Asserts that a text contains each of the words.
#[track_caller]
pub(crate) fn contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}
