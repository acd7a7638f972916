//! What keeps a config.toml from being used: its place, the line itself, and what to do about it.

use std::path::Path;

use app::{AsReport as _, Code, Problem, ProblemLevel, Report};

use super::without_value;
use crate::definition;
use crate::failure::Failure;

/// Characters of a line that are shown.
const LINE_CHARS: usize = 200;

/// Something that is wrong, in words for somebody who writes TOML.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    message: String,
    hint: Option<String>,
}

impl Mistake {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// A text that is not TOML at all.
    pub(super) fn of_syntax(error: &toml::de::Error) -> Self {
        Self::new(format!("not valid TOML: {}", without_value(error.message())))
    }

    /// TOML that does not say what settings say.
    pub(super) fn of_settings(error: &toml::de::Error) -> Self {
        let message = without_value(error.message());
        match TomlComplaint::of(&message) {
            TomlComplaint::Unknown { field, known } => {
                let hint = match persona::nearest(field, known.iter().copied()).first() {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("known is {}", known.join(", ")),
                };
                Self { message: format!("unknown key {field:?}"), hint: Some(hint) }
            }
            TomlComplaint::Missing(field) => {
                Self { message: format!("{field} is missing"), hint: Some(format!("add {field} = …")) }
            }
            TomlComplaint::Other => Self::of_value(message),
        }
    }

    /// A value of the wrong kind, as serde tells it; anything else stays as it is.
    fn of_value(message: String) -> Self {
        let said =
            ["invalid type: ", "invalid value: "].into_iter().find_map(|said| message.strip_prefix(said));
        let Some((found, expected)) = said.and_then(|said| said.split_once(", expected ")) else {
            return Self::new(message);
        };
        let (found, expected) = (found_in_words(found), expected_in_words(expected));
        let hint = match (found, expected) {
            (_, "a table") => Some("put it in braces: { key = \"…\" }"),
            ("a text", "a list") => Some("put it in brackets: [\"…\"]"),
            ("a text", "a whole number, 0 or more" | "true or false") => Some("write it without quotes"),
            ("a list" | "a table", _) => None,
            (_, "a text") => Some("put it in quotes"),
            _ => None,
        };
        Self { message: format!("expected {expected}, found {found}"), hint: hint.map(str::to_owned) }
    }

    /// The failure of whoever wanted to read the file; the mistake stands at this byte of its text.
    pub(super) fn at(self, path: &Path, text: &str, offset: usize) -> Failure {
        let (line, column) = definition::place(text, offset);
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

/// The complaint of the TOML parser. Its error is nothing but a message and a place, so the message has
/// to be read.
enum TomlComplaint<'a> {
    Unknown { field: &'a str, known: Vec<&'a str> },
    Missing(&'a str),
    Other,
}

impl<'a> TomlComplaint<'a> {
    fn of(message: &'a str) -> Self {
        let mut quoted = message.split('`').skip(1).step_by(2);
        match quoted.next() {
            Some(field) if message.starts_with("unknown field") => {
                Self::Unknown { field, known: quoted.collect() }
            }
            Some(field) if message.starts_with("missing field") => Self::Missing(field),
            _ => Self::Other,
        }
    }
}

fn found_in_words(found: &str) -> &str {
    match found {
        "string" => "a text",
        "sequence" => "a list",
        "map" => "a table",
        // integer `3`, boolean `true`
        other => other.split('`').nth(1).unwrap_or(other),
    }
}

fn expected_in_words(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a string" | "path string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        "a boolean" => "true or false",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// A line as it may be shown. A key may have been pasted where something else belongs, so headings and
/// the names of settings are shown, and of their values numbers and switches.
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
    fn a_line_is_shown_without_what_could_be_a_key() {
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
