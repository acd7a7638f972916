//! Functions that may look into a message, because a library offers nothing but text.

use std::collections::HashSet;
use std::path::Path;

use super::TidyReport;
use super::tree::Tree;

/// A file, a function of it, and the reason.
pub(super) type Exception = (&'static str, &'static str, &'static str);

pub(super) const EXCEPTIONS: &[Exception] = &[
    ("crates/files/src/hint.rs", "of", "the TOML parser says what is wrong in its message only"),
    (
        "crates/masque/src/definition.rs",
        "not_json",
        "serde_json appends the place, which is a field, to its message",
    ),
    ("crates/providers/src/adapter.rs", "named", "secrets are removed from a provider's sentence"),
    ("crates/providers/src/failure.rs", "by_status", "providers tell of an unknown model in a sentence only"),
    (
        "crates/providers/src/failure.rs",
        "says_context_exceeded",
        "providers tell of a full context in a sentence only",
    ),
    (
        "crates/providers/src/failure.rs",
        "with_status",
        "providers tell of an unknown model in a sentence only",
    ),
    (
        "crates/providers/src/gemini/stream.rs",
        "malformed_call",
        "Gemini names the tool of a malformed call in a sentence only",
    ),
    ("crates/tools/src/mcp/server.rs", "hushed", "secrets are removed from a server's sentence"),
    (
        "crates/xtask/src/chores/postgres/cluster.rs",
        "start",
        "PostgreSQL tells of a taken port in its log only",
    ),
];

pub(super) fn of(file: &Path, function: &str) -> Option<&'static Exception> {
    EXCEPTIONS.iter().find(|(path, name, _)| file == Path::new(path) && *name == function)
}

/// Reports the exceptions that a tree no longer needs.
pub(super) fn check_used(tree: &Tree, used: &HashSet<&Exception>, report: &mut TidyReport) {
    for exception @ (path, function, _) in EXCEPTIONS {
        let file = Path::new(path);
        if tree.file(file).is_some() && !used.contains(exception) {
            let message = format!("{function} no longer looks into a message; remove its exception");
            report.violation(file, 1, message);
        }
    }
}
