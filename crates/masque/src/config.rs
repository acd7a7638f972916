//! The user's own `config.toml`.
//!
//! Only the user writes it: what a project's files may do is decided here, never by them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::de::{DeTable, DeValue};

use crate::failure::{Failure, Result};

/// Bytes of the file; nobody writes that much by hand.
const MOST_BYTES: u64 = 1024 * 1024;

/// The tables and what each may have; none where the names inside are the user's choice.
const KNOWN: [(&str, Option<&[&str]>); 7] = [
    ("env", Some(&["allow"])),
    ("providers", None),
    ("history", Some(&["keep"])),
    ("lint", Some(&["part_tokens"])),
    ("server", None),
    ("mcp_servers", None),
    ("prices", None),
];

/// What the user has set. A missing file sets nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The names that `${env.NAME}` may stand for in files.
    pub(crate) env_allow: BTreeSet<String>,
    /// The names of the providers that are configured.
    pub(crate) providers: BTreeSet<String>,
    /// How many revisions of each entity servers keep; all of them where it is not set.
    pub(crate) history_keep: Option<usize>,
    /// A part with more tokens than this is long.
    pub(crate) lint_part_tokens: Option<usize>,
    /// What is not understood and has no effect.
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    env: Env,
    providers: BTreeMap<String, IgnoredTable>,
    history: History,
    lint: Lint,
    server: IgnoredTable,
    mcp_servers: BTreeMap<String, IgnoredTable>,
    prices: IgnoredTable,
}

/// A table whose content is not read here.
type IgnoredTable = BTreeMap<String, IgnoredAny>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Env {
    allow: BTreeSet<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct History {
    keep: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Lint {
    part_tokens: Option<usize>,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let mut text = String::new();
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Failure::file("read", path, &error)),
        };
        file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => {
                Failure::invalid(format!("{} is not UTF-8 text; save it as UTF-8", path.display()))
            }
            _ => Failure::file("read", path, &error),
        })?;
        if text.len() as u64 > MOST_BYTES {
            let most = MOST_BYTES / (1024 * 1024);
            return Err(Failure::invalid(format!("{} has more than {most} MiB", path.display())));
        }
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let broken = |error: &toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start);
            let message = error.message().trim_end().replace('\n', ", ");
            Failure::invalid(format!("{}: {message}", place(path, text, offset)))
        };
        let table = DeTable::parse(text).map_err(|error| broken(&error))?;
        let File { env, providers, history, lint, .. } =
            toml::from_str(text).map_err(|error| broken(&error))?;
        if history.keep == Some(0) {
            let path = path.display();
            return Err(Failure::invalid(format!(
                "{path}: history.keep must be at least 1: the newest revision is always kept"
            )));
        }
        Ok(Self {
            env_allow: env.allow,
            providers: providers.into_keys().collect(),
            history_keep: history.keep,
            lint_part_tokens: lint.part_tokens,
            warnings: unknown(path, text, table.get_ref()),
        })
    }
}

/// The keys that have no meaning, each with its place and what was probably meant.
fn unknown(path: &Path, text: &str, table: &DeTable<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |key: &str, offset: usize, known: &[&str]| {
        let hint = match persona::nearest(key, known.iter().copied()).first() {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("known is {}", known.join(", ")),
        };
        warnings.push(format!("{}: unknown key {key:?} has no effect; {hint}", place(path, text, offset)));
    };
    for (key, value) in table {
        let found = KNOWN.iter().find(|(name, _)| *name == key.get_ref().as_ref());
        let Some((_, known)) = found else {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            warn(key.get_ref(), key.span().start, &names);
            continue;
        };
        let (Some(known), DeValue::Table(inner)) = (known, value.get_ref()) else { continue };
        for (key, _) in inner {
            if !known.contains(&key.get_ref().as_ref()) {
                warn(key.get_ref(), key.span().start, known);
            }
        }
    }
    warnings
}

/// `path:line:column` of a byte.
fn place(path: &Path, text: &str, offset: usize) -> String {
    let (line, column) = crate::definition::place(text, offset);
    format!("{}:{line}:{column}", path.display())
}

#[cfg(test)]
mod tests;
