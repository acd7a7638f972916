//! One finding, whether a rule found it or the reader of a file.

use std::path::PathBuf;

use app::outputs::PlacedFinding;
use app::{Problem, ProblemLevel};
use persona::lint::{Finding, Level, Rule};
use persona::{Kind, Scope};
use serde::Serialize;

/// What the reader of a file finds, as rules: id, level and one sentence.
pub(super) const FILE_RULES: [(&str, Level, &str); 3] = [
    (
        BROKEN_FILE,
        Level::Error,
        "A personas.toml cannot be read, so that its last good state stays in force.",
    ),
    (INVALID_ENTRY, Level::Error, "An entry of a personas.toml is not valid, so that it is not in force."),
    (
        UNKNOWN_KEY,
        Level::Warning,
        "A personas.toml has a table or a key that means nothing, and has no effect.",
    ),
];
const BROKEN_FILE: &str = "broken-file";
const INVALID_ENTRY: &str = "invalid-entry";
const UNKNOWN_KEY: &str = "unknown-key";

#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) rule: &'static str,
    pub(super) level: Level,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<String>,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suggestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<usize>,
}

impl Entry {
    pub(super) fn of_finding(placed: PlacedFinding) -> Self {
        let PlacedFinding { finding, path, line, column } = placed;
        let Finding { rule, level, kind, name, scope, field, message, suggestion } = finding;
        Self {
            rule: Rule::as_str(rule),
            level,
            scope: Some(scope),
            kind: Some(kind),
            name: Some(name.to_string()),
            field,
            message,
            suggestion,
            path,
            line,
            column,
        }
    }

    pub(super) fn of_problem(problem: Problem, scope: Option<Scope>) -> Self {
        let Problem { path, line, column, message, hint, entry, level, .. } = problem;
        let (rule, level) = match (level, &entry) {
            (ProblemLevel::Warning, _) => (UNKNOWN_KEY, Level::Warning),
            (ProblemLevel::Error, Some(_)) => (INVALID_ENTRY, Level::Error),
            (ProblemLevel::Error, None) => (BROKEN_FILE, Level::Error),
        };
        let (kind, name) = entry.map_or((None, None), |(kind, name)| (Some(kind), Some(name)));
        // Line 0 is the file as a whole.
        let place = (line > 0).then_some((line, column));
        Self {
            rule,
            level,
            scope,
            kind,
            name,
            field: None,
            message,
            suggestion: hint,
            path: Some(path),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
        }
    }

    /// The order in which entries are read: strongest scope first, then from top to bottom.
    pub(super) fn place(&self) -> impl Ord + use<> {
        (std::cmp::Reverse(self.scope), self.path.clone(), self.line, self.column)
    }

    /// What it is about, as in `persona reviewer, parts`.
    pub(super) fn subject(&self) -> Option<String> {
        let subject = match (&self.kind, &self.name) {
            (Some(kind), Some(name)) => format!("{} {name}", kind.spoken()),
            _ => return None,
        };
        Some(match &self.field {
            Some(field) => format!("{subject}, {field}"),
            None => subject,
        })
    }

    /// What is wrong and what to do about it, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let subject = self.subject().map(|subject| format!("{subject}: ")).unwrap_or_default();
        let suggestion = self.suggestion.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
        format!("{subject}{}{suggestion}", self.message)
    }
}
