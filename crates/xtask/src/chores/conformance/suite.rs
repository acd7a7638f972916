//! The suite itself: installing it, running it, and reading what it found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::chores::node::Node;
use crate::chores::workspace::Workspace;
use crate::chores::{process, venv};

const PACKAGE: &str = "@modelcontextprotocol/conformance";
/// The first versions that know the 2026 wire are pre-releases.
const VERSION: &str = "0.2.0-alpha.12";

/// A result's directory is called `server-SCENARIO-TIMESTAMP`.
const DIRECTORY_PREFIX: &str = "server-";
const TIMESTAMP_LENGTH: usize = "-2026-07-28T00-00-00-000Z".len();

pub(super) struct Suite {
    node: Node,
    package: PathBuf,
}

/// One run for one revision.
pub(super) struct Outcome {
    pub(super) revision: String,
    /// The suite's own verdict: its exit code.
    pub(super) succeeded: bool,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) log: PathBuf,
    /// The suite's verdict on the exceptions, printed after its table of scenarios.
    pub(super) closing_words: String,
}

pub(super) struct Scenario {
    pub(super) name: String,
    /// Required by the revision. The others are run and shown, and do not count.
    pub(super) scored: bool,
    /// None: the suite left no result.
    pub(super) checks: Option<Vec<Check>>,
}

pub(super) struct Check {
    pub(super) id: String,
    pub(super) status: Status,
    pub(super) message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Success,
    Failure,
    Warning,
    /// Skipped, or only informing.
    Other,
}

impl Suite {
    pub(super) fn install(workspace: &Workspace) -> Result<Self> {
        let node = Node::provide(workspace)?;
        let directory = workspace.test_environment().join("conformance");
        let stamp = directory.join("version.stamp");
        let _lock = venv::lock(&directory)?;
        if !venv::is_current(&stamp, VERSION) {
            println!("conformance: installing {PACKAGE}@{VERSION}");
            fs::create_dir_all(&directory)?;
            node.install(&directory, &format!("{PACKAGE}@{VERSION}"))?;
            fs::write(&stamp, VERSION)?;
        }
        Ok(Self { node, package: directory.join("node_modules").join(PACKAGE) })
    }

    /// Runs a revision's requirement set. With a file of expected failures the suite counts warnings as
    /// failures; that is wanted.
    pub(super) fn run(
        &self,
        url: &str,
        revision: &str,
        exceptions: &Path,
        results: &Path,
    ) -> Result<Outcome> {
        if results.exists() {
            fs::remove_dir_all(results)?;
        }
        fs::create_dir_all(results)?;
        let log = results.join("log");
        let output = File::create(&log)?;
        let status = process::status(
            self.node
                .command()
                .arg(self.package.join("dist/index.js"))
                .args(["server", "--url", url, "--requirements", revision])
                .arg("--expected-failures")
                .arg(exceptions)
                .arg("--output-dir")
                .arg(results)
                .stdout(output.try_clone()?)
                .stderr(output),
        )?;
        Ok(Outcome {
            revision: revision.to_owned(),
            succeeded: status.success(),
            scenarios: read_results(results, &self.required(revision)?)?,
            closing_words: closing_words(&fs::read_to_string(&log)?),
            log,
        })
    }

    fn required(&self, revision: &str) -> Result<Vec<String>> {
        let path = self.package.join(format!("requirements/{revision}.yaml"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let names = required(&text);
        // No requirement would make every run a success.
        ensure!(!names.is_empty(), "no requirements in {}", path.display());
        Ok(names)
    }
}

impl Outcome {
    /// Required scenarios without a result.
    pub(super) fn unfinished(&self) -> Vec<&str> {
        let scored = self.scenarios.iter().filter(|scenario| scenario.scored);
        scored.filter(|scenario| scenario.checks.is_none()).map(|scenario| scenario.name.as_str()).collect()
    }
}

impl Scenario {
    pub(super) fn count(&self, status: Status) -> usize {
        let checks = self.checks.iter().flatten();
        checks.filter(|check| check.status == status).count()
    }

    pub(super) fn passed(&self) -> bool {
        self.checks.is_some() && self.count(Status::Failure) == 0 && self.count(Status::Warning) == 0
    }
}

/// The names under `server:` in a requirement set.
fn required(list: &str) -> Vec<String> {
    list.lines()
        .skip_while(|line| *line != "server:")
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with([' ', '#']))
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(str::to_owned)
        .collect()
}

/// The end of the suite's output, without colours.
fn closing_words(log: &str) -> String {
    let end = log.rsplit_once("\nTotal: ").map_or("", |(_, end)| end);
    let lines = end.lines().skip(1);
    let plain = lines.map(|line| {
        let mut parts = line.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_owned();
        // Each further part begins with the rest of a colour code, which ends with an m.
        parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
    });
    plain.collect::<Vec<String>>().join("\n")
}

/// The required scenarios in the set's order, and then the others that left a result.
fn read_results(results: &Path, required: &[String]) -> Result<Vec<Scenario>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(results)? {
        let entry = entry?;
        let directory = entry.file_name().to_string_lossy().into_owned();
        let Some(name) = scenario_name(&directory) else {
            continue;
        };
        let checks = fs::read_to_string(entry.path().join("checks.json")).ok();
        let checks = checks.and_then(|text| read_checks(&text));
        found.push((name.to_owned(), checks));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    let mut scenarios: Vec<Scenario> = required
        .iter()
        .map(|name| Scenario {
            name: name.clone(),
            scored: true,
            checks: found.iter().position(|(other, _)| other == name).and_then(|index| found.remove(index).1),
        })
        .collect();
    scenarios.extend(found.into_iter().map(|(name, checks)| Scenario { name, scored: false, checks }));
    Ok(scenarios)
}

fn scenario_name(directory: &str) -> Option<&str> {
    let name = directory.strip_prefix(DIRECTORY_PREFIX)?;
    name.get(..name.len().checked_sub(TIMESTAMP_LENGTH)?)
}

fn read_checks(text: &str) -> Option<Vec<Check>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let checks = value.as_array()?.iter().map(|check| Check {
        id: text(check, "id"),
        status: match check["status"].as_str() {
            Some("SUCCESS") => Status::Success,
            Some("FAILURE") => Status::Failure,
            Some("WARNING") => Status::Warning,
            _ => Status::Other,
        },
        message: text(check, "errorMessage"),
    });
    Some(checks.collect())
}

#[cfg(test)]
mod tests;
