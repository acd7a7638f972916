//! Warnings on standard error. They do not fail a command.

use std::io::{self, Write as _};

use app::{Problem, ProblemLevel};
use serde::Serialize;

use super::{Style, clean};

mod code;
pub(crate) use code::WarningCode;

/// A warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Warning {
    /// A problem in a personas.toml.
    File(Problem),
    /// A lint finding about an entity that was just written.
    Lint {
        rule: String,
        sentence: String,
    },
    Other {
        code: WarningCode,
        message: String,
    },
}

impl Warning {
    pub(crate) fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self::Other { code, message: message.into() }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Self::File(problem) => problem.to_string(),
            Self::Lint { rule, sentence } => format!("{sentence} [{rule}]"),
            Self::Other { message, .. } => message.clone(),
        }
    }
}

/// A warning for programs.
#[derive(Debug, Serialize)]
struct Json<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
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
            Warning::Other { code, message } => {
                return Self { code: code.as_str(), message, rule: None, place: None };
            }
            Warning::Lint { rule, sentence } => {
                let code = WarningCode::Lint.as_str();
                return Self { code, message: sentence, rule: Some(rule), place: None };
            }
            Warning::File(problem) => problem,
        };
        // Line 0 is the whole file.
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
        Self { code: problem.cause.as_str(), message: &problem.message, rule: None, place: Some(place) }
    }
}

/// Writes warnings for people, or as one JSON value.
pub(super) fn write(warnings: &[Warning], json: bool, color: bool) {
    if warnings.is_empty() {
        return;
    }
    // Errors of writing to standard error are ignored.
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
            format!("\x1b[{}mwarning:\x1b[0m", Style::Warning.code())
        } else {
            "warning:".to_owned()
        };
        let _ = writeln!(stderr, "{mark} {}", clean(&text));
    }
}
