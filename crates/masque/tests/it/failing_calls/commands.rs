//! Commands, each a process of its own on a library that is there.

use persona::Scope;

use super::library::{Kept, read, write_project};
use super::steps::{Answer, Deed, State, Step, check, named};
use super::{Ended, Workload, walk};
use crate::home::{CommandOutput, Home};
use crate::strace::Tracer;

#[test]
fn calls_that_fail_in_commands_lose_no_acknowledged_write() {
    walk("commands", &Commands::new());
}

struct Commands {
    home: Home,
    kept: Kept,
    before: State,
}

impl Commands {
    fn new() -> Self {
        let home = Home::new();
        write_project(&home);
        for scope in [Scope::Shared, Scope::Project] {
            for name in ["changed", "rolled-back", "rolled-back", "linked", "deleted"] {
                let name = named(scope, name);
                let is_known = home.run(&["show", "part", &name, "--project", "project"]).code == 0;
                let deed = if is_known { Deed::Change(name) } else { Deed::Part(name) };
                home.ok(&words(&Step::new(scope, deed).arguments(&home).unwrap()));
            }
            let persona = named(scope, "persona");
            let create = ["create", "persona", &persona, "--system-prompt", "You are one."];
            home.ok(&[&create[..], &["--scope", scope.as_str(), "--project", "project"]].concat());
        }
        let before = read(&home.path(""));
        let kept = Kept::of(&home, &[".local", "project"]);
        Self { home, kept, before }
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Steps that do not need each other: a fault in one leaves the others to be tried.
fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for scope in [Scope::Shared, Scope::Project] {
        let name = |name: &str| named(scope, name);
        let mut step = |deed| steps.push(Step::new(scope, deed));
        step(Deed::Part(name("created")));
        step(Deed::Change(name("changed")));
        step(Deed::Link { persona: name("persona"), part: name("linked") });
        step(Deed::RollBack(name("rolled-back")));
        step(Deed::Delete(name("deleted")));
        step(Deed::Import(["one", "two", "three"].map(name).to_vec()));
    }
    steps
}

impl Workload for Commands {
    fn run(&self, tracer: &Tracer) -> Vec<Ended> {
        self.kept.restore(&self.home);
        let mut answers = Vec::new();
        let mut all = Vec::new();
        for step in steps() {
            let arguments = step.arguments(&self.home).expect("a command for each step");
            let output = tracer.command(&self.home, &[]).args(arguments).output().unwrap();
            let CommandOutput { code, stderr: errors, .. } = CommandOutput::of(output);
            let acknowledged = code == 0;
            answers.push((step, Answer::of(acknowledged)));
            all.push(Ended { acknowledged, errors });
        }
        check(&self.before, &answers, &read(&self.home.path("")));
        all
    }

    fn directory(&self) -> String {
        self.home.path("").display().to_string()
    }
}
