//! A home whose only provider is a rehearsal, and a persona that has every tool.

use std::process::Command;

use rehearsal::{Rehearsal, Script};
use serde_json::Value;

use crate::home::{CommandOutput, Home, Refused};
use crate::terminal::Terminal;

/// The working directory of the persona.
const WORK: &str = "work";

pub(crate) struct Rehearsed {
    /// The runtime of the rehearsal.
    _runtime: tokio::runtime::Runtime,
    rehearsal: Rehearsal,
    pub(crate) home: Home,
}

impl Rehearsed {
    pub(crate) fn new(script: &str) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let script = Script::parse(script).unwrap_or_else(|error| panic!("{error}"));
        let rehearsal = runtime.block_on(Rehearsal::start_local(script)).unwrap();
        let home = Home::new();
        let url = rehearsal.url();
        home.write(
            ".config/masque/config.toml",
            &format!(
                "[providers.test]\nkind = \"openai-chat\"\nbase_url = \"{url}/v1\"\nmodels = [\"scripted\"]\n"
            ),
        );
        home.write(
            ".config/masque/personas.toml",
            "[personas.worker]\nsystem_prompt = \"You are the worker.\"\n\n\
             [personas.other]\nsystem_prompt = \"You are the other one.\"\n",
        );
        home.write("work/notes.txt", "one\ntwo\n");
        Self { _runtime: runtime, rehearsal, home }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command();
        command.current_dir(self.home.path(WORK)).env("NO_COLOR", "1").args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::of(self.command(arguments).output().unwrap())
    }

    /// Runs a command with `--json` that must be refused with this code.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str, arguments: &[&str]) -> Refused {
        self.run(&[&["--json"], arguments].concat()).refused_with(code)
    }

    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.run(arguments).ok()
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> CommandOutput {
        self.home.run_in_with_input(WORK, arguments, input)
    }

    pub(crate) fn terminal(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(self.command(arguments))
    }

    /// The requests to the model, oldest first.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let asked = self.rehearsal.requests().into_iter();
        asked
            .filter(|request| request.path.ends_with("/chat/completions"))
            .map(|request| request.body)
            .collect()
    }

    #[track_caller]
    pub(crate) fn last_request(&self) -> Value {
        self.requests().pop().expect("the model was asked")
    }

    /// The only session.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        let list: Value = serde_json::from_str(&self.ok(&["sessions", "--json"])).unwrap();
        let sessions = list["items"].as_array().unwrap();
        assert_eq!(sessions.len(), 1, "{list:#}");
        sessions[0]["id"].as_str().unwrap().to_owned()
    }
}

/// The names of the tools that a request offers.
pub(crate) fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}
