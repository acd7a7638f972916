//! Dependencies between crates, and restricted third-party crates.
//!
//! The table of crates is the one in ARCHITECTURE.md, under "The map". A manifest that differs from
//! its row fails, whichever of the two has more. Only `[dependencies]` and `[build-dependencies]`
//! count: tests may reach further.

use std::collections::BTreeMap;
use std::path::Path;

use toml_edit::{Item, TableLike};

use super::TidyReport;
use super::tree::{Crate, Tree};

const DOCUMENT: &str = "ARCHITECTURE.md";
/// The head of the table, as it is written there.
const HEAD: &str = "| crate | purpose | imports |";

/// Third-party crates that few may depend on, with the few.
const RESERVED: [(&str, &[&str]); 5] = [
    ("anyhow", &["bench", "conformance", "masque", "xtask"]),
    ("reqwest", &["bench", "providers", "rehearsal", "telemetry", "tools"]),
    ("rmcp", &["bench", "conformance", "mcp", "testkit", "tools"]),
    ("rusqlite", &["bench", "database", "sessions", "testkit"]),
    ("sqlx", &["database", "sessions", "store", "testkit"]),
];

/// Crates that must stay free of what does I/O, with what they may not depend on.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("persona", &["axum", "sqlx", "tokio"]),
    ("llm", &["axum", "sqlx", "tokio"]),
    ("agent", &["axum", "sqlx", "tokio"]),
    ("files", &["axum", "sqlx", "tokio"]),
];

/// A crate's row in the table.
struct Row {
    line: usize,
    imports: Vec<String>,
}

type Table = BTreeMap<String, Row>;

pub(super) fn check(tree: &Tree, report: &mut TidyReport) {
    let table = match read_table(&tree.root) {
        Ok(table) => table,
        Err(message) => return report.violation(Path::new(DOCUMENT), 1, message),
    };
    for member in &tree.crates {
        check_crate(member, &table, report);
    }
    for (name, row) in &table {
        if !tree.crates.iter().any(|member| member.name == *name) {
            let message = format!("there is no crate {name}; remove its row");
            report.violation(Path::new(DOCUMENT), row.line, message);
        }
    }
}

fn check_crate(member: &Crate, table: &Table, report: &mut TidyReport) {
    let Some(row) = table.get(&member.name) else {
        let message =
            format!("the crate {} is not in the table of {DOCUMENT}; add a row to \"The map\"", member.name);
        return report.violation(&member.manifest.path, 1, message);
    };
    let dependencies = dependencies(member);
    for (dependency, line) in &dependencies {
        if let Some(message) = judge(&member.name, row, table, dependency) {
            report.violation(&member.manifest.path, *line, message);
        }
    }
    for import in &row.imports {
        if !dependencies.iter().any(|(dependency, _)| dependency == import) {
            let message = format!("{} does not import {import}; remove it from the row", member.name);
            report.violation(Path::new(DOCUMENT), row.line, message);
        }
    }
}

/// The rows of the table, by crate. Names are in backticks or bare; a dash imports nothing.
fn read_table(root: &Path) -> Result<Table, String> {
    let text = std::fs::read_to_string(root.join(DOCUMENT)).map_err(|error| error.to_string())?;
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| *line != HEAD).skip(2);
    let mut table = Table::new();
    while let Some((line, number)) = lines.next().filter(|(line, _)| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names, _, imports] = cells[..] else {
            return Err(format!("line {number}: expected three cells, found {}", cells.len()));
        };
        let imports = if imports == "–" { Vec::new() } else { listed(imports) };
        for name in listed(names) {
            table.insert(name, Row { line: number, imports: imports.clone() });
        }
    }
    if table.is_empty() {
        return Err(format!("has no table that begins with {HEAD:?}"));
    }
    Ok(table)
}

fn listed(cell: &str) -> Vec<String> {
    cell.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect()
}

fn judge(member: &str, row: &Row, table: &Table, dependency: &str) -> Option<String> {
    let is_allowed = row.imports.iter().any(|import| import == dependency);
    if dependency == "testkit" && !is_allowed {
        return Some("testkit is for tests; move it to [dev-dependencies]".to_owned());
    }
    if table.contains_key(dependency) && !is_allowed {
        let allowed: Vec<&str> = row.imports.iter().map(String::as_str).collect();
        return Some(format!(
            "{member} may not import {dependency}, only {}; move the code to where the import is allowed",
            list(&allowed)
        ));
    }
    let reserved = lookup(&RESERVED, dependency);
    if let Some(few) = reserved.filter(|few| !few.contains(&member)) {
        return Some(format!("only {} may depend on {dependency}; go through their types", list(few)));
    }
    let forbidden = lookup(&FORBIDDEN, member)?;
    forbidden.contains(&dependency).then(|| format!("{member} may not depend on {dependency}"))
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
