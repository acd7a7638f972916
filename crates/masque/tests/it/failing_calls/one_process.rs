//! Writes of one process, to the database and to a file. The process also makes the database.

use std::collections::BTreeMap;

use persona::{Kind, Scope};
use serde_json::{Value, json};

use super::library::{Kept, read, write_project};
use super::steps::{Answer, Deed, State, Step, check, named};
use super::{Ended, Workload, walk};
use crate::home::Home;
use crate::strace::Tracer;
use crate::wire::{Client, Pipes, try_start_mcp};

/// So many that faults of threads come after the start of the process too.
const ROUNDS: usize = 3;

#[test]
fn calls_that_fail_in_a_server_lose_no_acknowledged_write() {
    walk("one process", &OneProcess::new());
}

pub(crate) struct OneProcess {
    pub(crate) home: Home,
    kept: Kept,
    /// The library before the first step.
    pub(crate) before: State,
}

impl OneProcess {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        write_project(&home);
        let before = read(&home.path(""));
        let kept = Kept::of(&home, &["project"]);
        Self { home, kept, before }
    }

    /// Puts the project back, and removes the database.
    pub(crate) fn restore(&self) {
        std::fs::remove_dir_all(self.home.path(".local")).unwrap();
        self.kept.restore(&self.home);
    }
}

/// The steps of the process.
pub(crate) fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for (round, scope) in (0..ROUNDS).flat_map(|round| [(round, Scope::Shared), (round, Scope::Project)]) {
        let name = |name: &str| named(scope, &format!("{name}-{round}"));
        let mut step = |deed| steps.push(Step::new(scope, deed));
        step(Deed::Part(name("changed")));
        step(Deed::Part(name("deleted")));
        step(Deed::Change(name("changed")));
        step(Deed::Persona(name("persona")));
        step(Deed::Link { persona: name("persona"), part: name("changed") });
        step(Deed::Delete(name("deleted")));
        if (round, scope) == (0, Scope::Project) {
            step(Deed::Change(named(scope, "included")));
        }
    }
    steps
}

impl OneProcess {
    /// Writes under a tracer after [`Self::restore`], and checks the files.
    pub(crate) fn run_restored(&self, tracer: &Tracer) -> Ended {
        let mut command = tracer.command(&self.home, &[]);
        command.args(["mcp", "--project"]).arg(self.home.path("project"));
        let (running, client) = try_start_mcp(command);
        let mut client = client.ok();
        let mut answers = Vec::new();
        let mut seen = BTreeMap::new();
        if let Some(client) = &mut client {
            for step in steps() {
                let answer = Answer::of(write(client, &step));
                answers.push((step, answer));
            }
            seen = look(client);
        }
        drop(client);
        let (code, errors) = running.finish();
        let found = read(&self.home.path(""));
        check(&self.before, &answers, &found);
        for (name, text) in seen {
            let held = found.get(&(Kind::Part, name.clone())).map(|held| &held.text);
            assert_eq!(held, Some(&text), "the process saw another {name}");
        }
        let acknowledged = answers.len() == steps().len()
            && answers.iter().all(|(_, answer)| *answer == Answer::Acknowledged)
            && code == Some(0);
        Ended { acknowledged, errors }
    }
}

impl Workload for OneProcess {
    fn run(&self, tracer: &Tracer) -> Vec<Ended> {
        self.restore();
        vec![self.run_restored(tracer)]
    }

    fn directory(&self) -> String {
        self.home.path("").display().to_string()
    }
}

/// True if the write was acknowledged.
fn write(client: &mut Pipes, step: &Step) -> bool {
    let (tool, arguments) = step.request().expect("a tool for each step");
    let reply = client.request("tools/call", json!({ "name": tool, "arguments": arguments }));
    reply.is_ok_and(|reply| reply["result"].is_object() && reply["result"]["isError"] != true)
}

/// The parts that the process itself sees in the end.
fn look(client: &mut Pipes) -> BTreeMap<String, String> {
    let mut seen = BTreeMap::new();
    for step in steps() {
        let (Deed::Part(name) | Deed::Change(name)) = step.deed else { continue };
        let arguments = json!({ "name": name, "scope": step.scope.as_str() });
        let Ok(reply) =
            client.request("tools/call", json!({ "name": "get_agent_part", "arguments": arguments }))
        else {
            break;
        };
        if let Value::String(text) = &reply["result"]["structuredContent"]["content"] {
            seen.insert(name, text.clone());
        }
    }
    seen
}
