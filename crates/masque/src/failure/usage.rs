//! Errors of the command line's parser, as data.

use std::error::Error as _;

use app::{Code, Remedy, Report, Subject};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A command line that clap cannot parse.
pub(crate) fn usage(error: &clap::Error) -> Report {
    // clap adds dots to the name of an argument that takes several words.
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let argument = argument.strip_suffix("...").unwrap_or(&argument);
    let (code, message) = match error.kind() {
        ErrorKind::UnknownArgument => (Code::UnknownField, format!("unexpected argument {argument:?}")),
        ErrorKind::InvalidSubcommand => {
            let command = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            (Code::UnknownWord, format!("unknown command {command:?}"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            (Code::InvalidValue, of_value(error, argument))
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            (Code::MissingField, format!("missing argument {argument}"))
        }
        ErrorKind::ArgumentConflict => {
            let other = text(error, ContextKind::PriorArg).unwrap_or_default();
            (Code::ConflictingFields, format!("{argument} cannot be used with {other}"))
        }
        kind => (Code::InvalidUsage, kind.as_str().unwrap_or("invalid command line").to_owned()),
    };
    let report = Report::new(code, message);
    let report = if argument.is_empty() { report } else { report.about(Subject::field(argument)) };
    with_remedy(report, error)
}

fn of_value(error: &clap::Error, argument: &str) -> String {
    match (text(error, ContextKind::InvalidValue), error.source()) {
        (None, _) => format!("missing value for {argument}"),
        (Some(value), _) if value.is_empty() => format!("missing value for {argument}"),
        (Some(value), None) => format!("invalid value {value:?} for {argument}"),
        (Some(value), Some(why)) => format!("invalid value {value:?} for {argument}: {why}"),
    }
}

fn with_remedy(report: Report, error: &clap::Error) -> Report {
    let suggested =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let near: Vec<String> = suggested.into_iter().flat_map(|kind| words(error, kind)).collect();
    let valid = words(error, ContextKind::ValidValue);
    match (near.is_empty(), valid.is_empty()) {
        (false, _) => report.with_candidates(near).with_remedy(Remedy::DidYouMean),
        (true, false) => report.with_remedy(Remedy::UseOneOf { words: valid }),
        (true, true) => report,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let words = words(error, kind);
    (!words.is_empty()).then(|| words.join(", "))
}

fn words(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    }
}
