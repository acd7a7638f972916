//! What is wrong besides: told on standard error, and no reason to fail.

use std::io::{self, Write as _};

use app::{Problem, ProblemLevel};
use serde::Serialize;

use super::{Style, clean};

/// Something that has no effect, or not the one that its author meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Warning {
    /// A mistake in a personas.toml.
    File(Problem),
    /// Anything else, in a sentence.
    Said(String),
}

impl Warning {
    fn text(&self) -> String {
        match self {
            Self::File(problem) => problem.to_string(),
            Self::Said(sentence) => sentence.clone(),
        }
    }
}

/// A warning for programs.
#[derive(Debug, Serialize)]
struct Json<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: Option<Place<'a>>,
}

#[derive(Debug, Serialize)]
struct Place<'a> {
    level: &'static str,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    source_line: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<persona::Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

impl<'a> From<&'a Warning> for Json<'a> {
    fn from(warning: &'a Warning) -> Self {
        let problem = match warning {
            Warning::Said(message) => return Self { message, place: None },
            Warning::File(problem) => problem,
        };
        // Line 0 is the file as a whole.
        let in_line = |number| (problem.line > 0).then_some(number);
        let place = Place {
            level: if problem.level == ProblemLevel::Error { "error" } else { "warning" },
            path: problem.path.display().to_string(),
            line: in_line(problem.line),
            column: in_line(problem.column),
            source_line: &problem.source_line,
            hint: problem.hint.as_deref(),
            kind: problem.entry.as_ref().map(|(kind, _)| *kind),
            name: problem.entry.as_ref().map(|(_, name)| name.as_str()),
        };
        Self { message: &problem.message, place: Some(place) }
    }
}

/// Writes warnings for people, or as one JSON value.
pub(super) fn write(warnings: &[Warning], json: bool, color: bool) {
    if warnings.is_empty() {
        return;
    }
    // Nothing can be done about a standard error that is closed.
    let mut stderr = io::stderr().lock();
    if json {
        let warnings: Vec<Json<'_>> = warnings.iter().map(Json::from).collect();
        let value = serde_json::json!({ "warnings": warnings });
        let _ = writeln!(stderr, "{}", clean::json(&value.to_string()));
        return;
    }
    for warning in warnings {
        let text = warning.text();
        let mark = if color {
            format!("\x1b[{}mwarning:\x1b[0m", Style::Doubtful.code())
        } else {
            "warning:".to_owned()
        };
        let _ = writeln!(stderr, "{mark} {}", clean(&text));
    }
}
