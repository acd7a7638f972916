//! An invalid setting, with its place and a remedy.

use std::path::Path;

use app::inputs::{ExpectedType, InputError};
use app::{AsReport as _, Code, Problem, ProblemLevel, Report};
use serde_json::{Map, Value};
use toml::de::DeTable;

use super::{key_offset, value_offset};
use crate::definition;
use crate::failure::Failure;
use crate::output::one_line;

/// Maximum characters of a shown line.
const LINE_CHARS: usize = 200;

/// A setting that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SettingError {
    pub(crate) message: String,
    hint: Option<String>,
    /// The byte offset in the file.
    pub(crate) offset: usize,
}

impl SettingError {
    pub(super) fn new(message: impl Into<String>, offset: usize) -> Self {
        Self { message: message.into(), hint: None, offset }
    }

    /// A text that is not TOML.
    pub(super) fn syntax(error: &toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        Self::new(format!("not valid TOML: {}", one_line(error.message())), offset)
    }

    /// A key or value that does not fit. `fields` are the values of `table`.
    pub(crate) fn input(error: &InputError, fields: &Map<String, Value>, table: &DeTable<'_>) -> Self {
        match error {
            InputError::Unknown { parent, field, known } => {
                let path = if parent.is_empty() { field.clone() } else { format!("{parent}.{field}") };
                let error = Self::new(format!("unknown key {field:?}"), key_offset(table, &path));
                Self { hint: Some(super::suggestion(field, known)), ..error }
            }
            InputError::Missing { parent, field } => {
                let error = Self::new(format!("{field} is missing"), value_offset(table, parent));
                Self { hint: Some(format!("add {field} = …")), ..error }
            }
            InputError::Word { field, word, known } => {
                let error = Self::new(format!("unknown value {word:?}"), value_offset(table, field));
                Self { hint: Some(super::suggestion(word, known)), ..error }
            }
            InputError::Type { field, expected, .. } => {
                let value = value_at(fields, field);
                let message = format!("expected {}, found {}", expected_text(expected), found_text(value));
                let hint = type_hint(expected, value).map(str::to_owned);
                Self { message, hint, offset: value_offset(table, field) }
            }
            InputError::Name { field, source } => Self::new(source.to_string(), value_offset(table, field)),
            InputError::Value { field, message } => Self::new(message.as_str(), value_offset(table, field)),
            InputError::Entity { .. } => Self::new(error.to_string(), 0),
        }
    }

    /// The failure of a command, with the place in the file.
    pub(super) fn at(self, path: &Path, text: &str) -> Failure {
        let (line, column) = definition::place(text, self.offset);
        let problem = Problem {
            path: path.to_owned(),
            line,
            column,
            source_line: shown(text.lines().nth(line - 1).unwrap_or_default()),
            cause: Code::InvalidConfig,
            message: self.message,
            hint: self.hint,
            entry: None,
            level: ProblemLevel::Error,
            in_force: None,
        };
        Report::new(Code::InvalidConfig, problem.to_string()).about(problem.subject()).into()
    }
}

/// The value at a dotted path, or the last one on the way.
fn value_at<'v>(fields: &'v Map<String, Value>, path: &str) -> &'v Value {
    let mut steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    let first = steps.next().and_then(|step| fields.get(step)).unwrap_or(&Value::Null);
    steps.fold(first, |value, step| {
        let item = step.parse::<usize>().ok().and_then(|index| value.get(index));
        item.or_else(|| value.get(step)).unwrap_or(value)
    })
}

/// A value in words, without texts: one may be a key in the wrong place.
fn found_text(value: &Value) -> String {
    match value {
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

fn expected_text(expected: &ExpectedType) -> String {
    match expected {
        ExpectedType::Object => "a table".to_owned(),
        other => other.to_string(),
    }
}

fn type_hint(expected: &ExpectedType, found: &Value) -> Option<&'static str> {
    match (expected, found) {
        (ExpectedType::Object, _) => Some("put it in braces: { key = \"…\" }"),
        (ExpectedType::List, Value::String(_)) => Some("put it in brackets: [\"…\"]"),
        (ExpectedType::Whole { .. } | ExpectedType::Number | ExpectedType::Flag, Value::String(_)) => {
            Some("write it without quotes")
        }
        (ExpectedType::Text, Value::Bool(_) | Value::Number(_)) => Some("put it in quotes"),
        _ => None,
    }
}

/// A line without texts, which may be keys: headings, names of settings, numbers and switches stay.
fn shown(line: &str) -> String {
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_-. \t".contains(c));
    let shown = match line.split_once('=') {
        Some((key, value)) if is_name(key) => {
            let space = &value[..value.len() - value.trim_start().len()];
            let value = value.trim();
            let is_number = value.chars().all(|c| c.is_ascii_digit() || "_.+-".contains(c));
            let is_plain = is_number || ["true", "false"].contains(&value);
            format!("{key}={space}{}", if is_plain { value } else { "…" })
        }
        None if line.trim_start().starts_with('[') && is_name(&line.replace(['[', ']'], "")) => {
            line.to_owned()
        }
        _ => "…".to_owned(),
    };
    shown.chars().take(LINE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_line_is_shown_without_texts() {
        for (line, expected) in [
            ("keep = 0", "keep = 0"),
            ("  cool-down=-1_0.5", "  cool-down=-1_0.5"),
            ("enabled = true", "enabled = true"),
            ("[providers.far", "[providers.far"),
            ("allow = \"s3cret\"", "allow = …"),
            ("allow = s3cret", "allow = …"),
            ("headers = { a = 's3cret' }", "headers = …"),
            ("keep = 3 # s3cret", "keep = …"),
            ("  \"s3cret==\",", "…"),
            ("s3cret", "…"),
            ("[\"s3cret\"]", "…"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }
}
