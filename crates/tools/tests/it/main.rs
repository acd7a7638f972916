//! The tool sets as a session uses them: through a toolbox, against real files, processes and servers.

mod guarded;
mod hostile_files;
mod mcp;
mod mcp_server;
mod processes;
mod reading;
mod shell;
mod wording;
mod writing;

use std::path::Path;

use agent::ToolCall;
use serde_json::Value;
use tempfile::TempDir;
use tools::{Invocation, Outcome, Root, Toolbox};

/// A directory with tools on it.
struct Project {
    dir: TempDir,
    tools: Toolbox,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("root")).expect("a root");
        let root = Root::open(&dir.path().join("root")).expect("a root");
        let mut tools = Toolbox::new();
        tools.add(tools::files(&root));
        tools.add(tools::shell(&root, &tools::ShellSettings::default()));
        Self { dir, tools }
    }

    /// The session's root.
    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("root")
    }

    /// Beside the root.
    fn outside(&self) -> &Path {
        self.dir.path()
    }

    fn put(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, content).expect("a file");
        self
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).expect("a file")
    }

    async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.tools.call(tool, called(input)).await
    }

    /// The answer of a call that succeeds.
    async fn ok(&self, tool: &str, input: Value) -> String {
        let answer = self.call(tool, input.clone()).await;
        assert!(!answer.is_error, "{tool} {input}: {}", answer.text);
        answer.text
    }

    /// The answer of a call that fails.
    async fn fails(&self, tool: &str, input: Value) -> String {
        let answer = self.call(tool, input.clone()).await;
        assert!(answer.is_error, "{tool} {input}: {}", answer.text);
        answer.text
    }
}

fn called(input: Value) -> Invocation {
    let Value::Object(input) = input else { panic!("an input is an object") };
    let call = ToolCall { id: "call_1".to_owned(), input, ..ToolCall::default() };
    Invocation { call, ..Invocation::default() }
}

/// Asserts that a text contains each of the words.
#[track_caller]
fn contains(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
}
