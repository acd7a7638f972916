//! The fingerprint of everything that trust lets a project do.
//!
//! It covers MCP servers with the files of the project that they start, providers, tool presets, the presets
//! and guardrails that personas use, and the tools that guardrails deny. Texts of personas, comments and
//! layout can change without a new question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use app::{AsReport as _, Code};
use sha2::{Digest as _, Sha256};
use toml::{Table, Value};

/// Tables that take effect in a trusted project only.
const TABLES: [&str; 3] = ["mcp_servers", "providers", "tool_presets"];
/// Fields that decide which tools run: those of a persona, and those of a guardrail.
const FIELDS: [(&str, &[&str]); 2] = [
    ("personas", &["extends", "tool_preset", "plan_persona", "guardrails", "remove_guardrails"]),
    ("guardrails", &["deny_tools"]),
];

/// Tables whose values are not repeated: they may hold keys.
const SECRET_TABLES: [&str; 2] = ["env", "headers"];
/// Maximum number of fields that the list remembers of a project.
const MOST_FIELDS: usize = 1_000;
/// Characters of a value that are shown.
const SHOWN_CHARS: usize = 300;
/// The start of a SQLite file: the data of a server, which changes with its use.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Digits of the hash of a value that is not shown whole.
const HASH_DIGITS: usize = 8;

/// Hashes the personas.toml of a project. A text that is not TOML is hashed as a whole.
pub(super) fn fingerprint(root: &Path, text: &str) -> String {
    let mut hash = Sha256::new();
    match toml::from_str::<Table>(text) {
        Ok(table) => {
            // Without programs, the fingerprint is that of earlier releases.
            for (field, content) in programs(root, &table) {
                hash.update(format!("program {field:?} {content} "));
            }
            feed(&mut hash, &Value::Table(relevant(table)));
        }
        Err(_) => hash.update(text),
    }
    // A link out of the project must keep its target.
    if app::project::leads_out(root)
        && let Ok(target) = root.join(app::project::FILE_NAME).canonicalize()
    {
        hash.update(target.as_os_str().as_encoded_bytes());
    }
    format!("sha256:{:x}", hash.finalize())
}

/// The parts of a personas.toml that need trust.
fn relevant(mut table: Table) -> Table {
    let in_part: Vec<(&str, Option<Value>)> = FIELDS
        .iter()
        .map(|(kind, fields)| (*kind, table.remove(*kind).and_then(|of| only(of, fields))))
        .collect();
    table.retain(|name, _| TABLES.contains(&name));
    for (kind, relevant) in in_part {
        if let Some(relevant) = relevant {
            table.insert(kind.to_owned(), relevant);
        }
    }
    table
}

/// The files of the project that its MCP servers start, such as `mcp_servers.issues: server.sh`, each with the
/// hash of its content.
fn programs(root: &Path, table: &Table) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (name, server) in table.get("mcp_servers").and_then(Value::as_table).into_iter().flatten() {
        for path in program_files(root, server) {
            let real = path.canonicalize().ok().filter(|real| real.starts_with(root));
            let below = path.strip_prefix(root).ok().map(Path::to_owned);
            let below = below.or_else(|| real?.strip_prefix(root).ok().map(Path::to_owned));
            if let Some((below, content)) = below.and_then(|below| Some((below, content(&path)?))) {
                found.insert(format!("mcp_servers.{name}: {}", below.display()), content);
            }
        }
    }
    found
}

fn program_files(root: &Path, server: &Value) -> BTreeSet<PathBuf> {
    let text = |field: &str| server.get(field).and_then(Value::as_str);
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let directory = root.join(text("cwd").unwrap_or_default());
    tools::program_files(&directory, text("command").unwrap_or_default(), args)
}

/// The hash of a file's content. None for a missing file, a directory and a database.
fn content(path: &Path) -> Option<String> {
    match files::disk::read_bytes(path) {
        Ok(bytes) => {
            let bytes = bytes.filter(|bytes| !bytes.starts_with(SQLITE))?;
            Some(format!("{:x}", Sha256::digest(&bytes)))
        }
        // Too large to read at every start.
        Err(files::Error::TooLarge { .. }) => {
            let data = path.metadata().ok()?;
            let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            Some(format!("{} bytes of {}", data.len(), modified.as_nanos()))
        }
        Err(error) => (error.code() == Code::FileDenied).then(|| "unreadable".to_owned()),
    }
}

/// The entries of a table with these fields only. None if none has any.
fn only(table: Value, names: &[&str]) -> Option<Value> {
    let Value::Table(mut entries) = table else { return None };
    for (_, entry) in &mut entries {
        if let Value::Table(fields) = entry {
            fields.retain(|name, _| names.contains(&name));
        }
    }
    entries.retain(|_, entry| entry.as_table().is_some_and(|fields| !fields.is_empty()));
    (!entries.is_empty()).then_some(Value::Table(entries))
}

/// The fields that trust lets act, such as `mcp_servers.issues.args`, with their values as the user sees
/// them, and the files that servers start. Empty if there are too many.
pub(super) fn fields(root: &Path, text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(table) = toml::from_str::<Table>(text) {
        for (field, content) in programs(root, &table) {
            let content: String = content.chars().take(HASH_DIGITS).collect();
            found.insert(field, format!("a file ({content})"));
        }
        collect(&Value::Table(relevant(table)), &mut Vec::new(), &mut found);
    }
    if found.len() > MOST_FIELDS {
        found.clear();
    }
    found
}

fn collect<'a>(value: &'a Value, path: &mut Vec<&'a str>, found: &mut BTreeMap<String, String>) {
    let Value::Table(table) = value else {
        let is_secret = path.iter().any(|key| SECRET_TABLES.contains(key));
        found.insert(path.join("."), shown(value, is_secret));
        return;
    };
    for (key, value) in table {
        path.push(key);
        collect(value, path, found);
        path.pop();
    }
}

/// A value in short. Another value always looks different.
fn shown(value: &Value, is_secret: bool) -> String {
    let text = value.to_string();
    let hash = || format!("{:x}", Sha256::digest(&text)).chars().take(HASH_DIGITS).collect::<String>();
    match text.char_indices().nth(SHOWN_CHARS) {
        _ if is_secret => format!("hidden ({})", hash()),
        Some((end, _)) => format!("{}… ({})", &text[..end], hash()),
        None => text,
    }
}

/// Feeds a value in an unambiguous form that does not depend on the order of keys.
fn feed(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Table(table) => {
            let mut entries: Vec<(&String, &Value)> = table.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            hash.update(format!("table {} ", entries.len()));
            for (name, value) in entries {
                hash.update(format!("{name:?} "));
                feed(hash, value);
            }
        }
        Value::Array(items) => {
            hash.update(format!("list {} ", items.len()));
            items.iter().for_each(|item| feed(hash, item));
        }
        scalar => hash.update(format!("{} {scalar} ", scalar.type_str())),
    }
}
