//! Which crate may depend on which, and who may name a third-party crate.
//!
//! Only `[dependencies]` and `[build-dependencies]` count: tests may reach further.

use toml_edit::{Item, TableLike};

use super::Report;
use super::tree::{Crate, Tree};

/// The crates of the workspace and the crates of the workspace that each may import.
/// `testkit` is for `[dev-dependencies]`, and for the benchmarks.
const INTERNAL: [(&str, &[&str]); 15] = [
    ("persona", &[]),
    ("llm", &[]),
    ("agent", &["llm", "persona"]),
    ("providers", &["llm"]),
    ("rehearsal", &["llm"]),
    ("tools", &["agent", "llm", "persona"]),
    ("store", &["agent", "persona"]),
    ("app", &["agent", "llm", "persona", "providers", "rehearsal", "store", "tools"]),
    ("operations", &["agent", "app", "llm", "persona"]),
    ("mcp", &["app", "operations", "persona"]),
    ("server", &["agent", "app", "llm", "mcp", "operations", "persona"]),
    (
        "masque",
        &[
            "agent",
            "app",
            "llm",
            "mcp",
            "operations",
            "persona",
            "providers",
            "rehearsal",
            "server",
            "store",
            "tools",
        ],
    ),
    ("testkit", &["persona", "store"]),
    ("bench", &["agent", "app", "mcp", "persona", "providers", "rehearsal", "store", "testkit"]),
    ("xtask", &[]),
];

/// Third-party crates that few may depend on, with the few.
const RESERVED: [(&str, &[&str]); 5] = [
    ("anyhow", &["bench", "masque", "xtask"]),
    ("reqwest", &["bench", "providers", "rehearsal", "tools"]),
    ("rmcp", &["bench", "mcp", "testkit", "tools"]),
    ("rusqlite", &["store"]),
    ("sqlx", &["bench", "store", "testkit"]),
];

/// Crates that must stay free of what does I/O, with what they may not depend on.
const FORBIDDEN: [(&str, &[&str]); 3] = [
    ("persona", &["axum", "sqlx", "tokio"]),
    ("llm", &["axum", "sqlx", "tokio"]),
    ("agent", &["axum", "sqlx", "tokio"]),
];

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for member in &tree.crates {
        let Some(allowed) = lookup(&INTERNAL, &member.name) else {
            report.violation(
                &member.manifest.path,
                1,
                format!(
                    "the crate {} is not in the import table; add it to crates/xtask/src/tidy/imports.rs",
                    member.name
                ),
            );
            continue;
        };
        for (dependency, line) in dependencies(member) {
            if let Some(message) = judge(&member.name, allowed, &dependency) {
                report.violation(&member.manifest.path, line, message);
            }
        }
    }
}

fn judge(member: &str, allowed: &[&str], dependency: &str) -> Option<String> {
    let is_internal = lookup(&INTERNAL, dependency).is_some();
    if dependency == "testkit" && !allowed.contains(&dependency) {
        return Some("testkit is for tests; move it to [dev-dependencies]".to_owned());
    }
    if is_internal && !allowed.contains(&dependency) {
        return Some(format!(
            "{member} may not import {dependency}, only {}; move the code to where the import is allowed",
            list(allowed)
        ));
    }
    let reserved = lookup(&RESERVED, dependency);
    if let Some(few) = reserved.filter(|few| !few.contains(&member)) {
        return Some(format!("only {} may depend on {dependency}; go through their types", list(few)));
    }
    let forbidden = lookup(&FORBIDDEN, member)?;
    forbidden
        .contains(&dependency)
        .then(|| format!("{member} does no I/O and may not depend on {dependency}"))
}

/// The names of the packages that the crate depends on, with their lines, for every target.
fn dependencies(member: &Crate) -> Vec<(String, usize)> {
    let manifest = member.manifest.document.as_table();
    let targets = manifest.get("target").and_then(Item::as_table_like);
    let per_target = targets
        .into_iter()
        .flat_map(|targets| targets.iter().filter_map(|(_, target)| target.as_table_like()));
    let mut found = Vec::new();
    for table in std::iter::once(manifest as &dyn TableLike).chain(per_target) {
        for section in ["dependencies", "build-dependencies"] {
            let Some(section) = table.get(section).and_then(Item::as_table_like) else {
                continue;
            };
            for (name, _) in section.iter() {
                let Some((key, item)) = section.get_key_value(name) else {
                    continue;
                };
                // A renamed dependency is still the package that it renames.
                let package = item.as_table_like().and_then(|item| item.get("package")?.as_str());
                let line = member.manifest.line(key.span());
                found.push((package.unwrap_or(name).to_owned(), line));
            }
        }
    }
    found
}

fn lookup<'table>(
    table: &'table [(&str, &'table [&'table str])],
    name: &str,
) -> Option<&'table [&'table str]> {
    let entry = table.iter().find(|(key, _)| *key == name);
    entry.map(|(_, value)| *value)
}

fn list(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
