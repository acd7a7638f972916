//! The user's own `config.toml`.
//!
//! Only the user writes it. It decides what the files of a project may do.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use app::Code;
use providers::Providers;
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tools::{FetchSettings, ServerSettings, ShellSettings};

use crate::definition::{self, read_text};
use crate::failure::{Failure, Result};

mod mistake;
use mistake::Mistake;

/// The tables and their keys. None if the keys are free or checked elsewhere.
const KNOWN: [(&str, Option<&[&str]>); 7] = [
    ("env", Some(&["allow"])),
    ("providers", None),
    ("mcp_servers", None),
    ("tools", Some(&["shell", "fetch"])),
    ("run", Some(&["max_tool_rounds", "escalation_cooldown_s"])),
    ("history", Some(&["keep"])),
    ("lint", Some(&["part_tokens"])),
];

/// Bounds of `run.escalation_cooldown_s`: at most a day.
const COOLDOWN_S: RangeInclusive<u64> = 0..=86_400;

/// The user's settings. A missing file means defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// Variables that `${env.NAME}` may expand to in files.
    pub(crate) env_allow: BTreeSet<String>,
    /// Model providers, by name.
    pub(crate) providers: BTreeMap<String, providers::Settings>,
    /// MCP servers whose tools personas may use, by name.
    pub(crate) mcp_servers: BTreeMap<String, ServerSettings>,
    pub(crate) shell: ShellSettings,
    /// None unless enabled.
    pub(crate) fetch: Option<FetchSettings>,
    /// Tool rounds of a run, for personas without a limit of their own.
    pub(crate) max_tool_rounds: Option<u32>,
    /// How long a fallback model stays in use.
    pub(crate) escalation_cooldown: Option<Duration>,
    /// Revisions that servers keep of each entity. None keeps all.
    pub(crate) history_keep: Option<usize>,
    /// Lint warns about parts with more tokens than this.
    pub(crate) lint_part_tokens: Option<usize>,
    /// Unknown keys, which have no effect.
    pub(crate) warnings: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    env: Env,
    providers: BTreeMap<String, providers::Settings>,
    mcp_servers: BTreeMap<String, ServerSettings>,
    tools: Tools,
    run: Run,
    history: History,
    lint: Lint,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Env {
    allow: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tools {
    shell: Option<Spanned<ShellSettings>>,
    fetch: FetchSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Run {
    max_tool_rounds: Option<Spanned<u64>>,
    escalation_cooldown_s: Option<Spanned<u64>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct History {
    keep: Option<Spanned<usize>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lint {
    part_tokens: Option<Spanned<usize>>,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = match read_text(path) {
            Err(Failure::Told(report)) if report.code == Code::FileNotFound => return Ok(Self::default()),
            text => text?,
        };
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        let broken = |error: &toml::de::Error, mistake: Mistake| {
            mistake.at(path, text, error.span().map_or(0, |span| span.start))
        };
        let at = |offset, message: &str| Mistake::new(message).at(path, text, offset);
        let table = DeTable::parse(text).map_err(|error| broken(&error, Mistake::of_syntax(&error)))?;
        let file = toml::from_str(text).map_err(|error| broken(&error, Mistake::of_settings(&error)))?;
        let File { env, providers, mcp_servers, tools, run, history, lint } = file;
        if let Err(error) = Providers::build(providers.clone(), &|_| None) {
            return Err(at(offset_of(table.get_ref(), &error.place), &error.to_string()));
        }
        let is_zero = |value: &&Spanned<usize>| *value.get_ref() == 0;
        if let Some(keep) = history.keep.as_ref().filter(is_zero) {
            let message = "history.keep must be at least 1: the newest revision is always kept";
            return Err(at(keep.span().start, message));
        }
        if let Some(tokens) = lint.part_tokens.as_ref().filter(is_zero) {
            let message = "lint.part_tokens must be at least 1; remove it to use the default";
            return Err(at(tokens.span().start, message));
        }
        let shell_times = 1..=tools::limits::MOST_COMMAND_TIME.as_secs();
        if let Some(shell) = &tools.shell
            && shell.get_ref().timeout_s.is_some_and(|seconds| !shell_times.contains(&seconds))
        {
            let offset = offset_of(table.get_ref(), "tools.shell.timeout_s");
            return Err(at(offset, &between("tools.shell.timeout_s", &shell_times)));
        }
        let within = |name: &str, value: Option<Spanned<u64>>, bounds: RangeInclusive<u64>| match value {
            Some(value) if !bounds.contains(value.get_ref()) => {
                Err(at(value.span().start, &between(name, &bounds)))
            }
            value => Ok(value.map(Spanned::into_inner)),
        };
        let rounds = 1..=u64::from(persona::limits::TOOL_ROUNDS);
        let rounds = within("run.max_tool_rounds", run.max_tool_rounds, rounds)?;
        let cooldown = within("run.escalation_cooldown_s", run.escalation_cooldown_s, COOLDOWN_S)?;
        Ok(Self {
            env_allow: env.allow,
            providers,
            mcp_servers,
            shell: tools.shell.map(Spanned::into_inner).unwrap_or_default(),
            fetch: Some(tools.fetch).filter(|fetch| fetch.enabled),
            max_tool_rounds: rounds.and_then(|rounds| u32::try_from(rounds).ok()),
            escalation_cooldown: cooldown.map(Duration::from_secs),
            history_keep: history.keep.map(Spanned::into_inner),
            lint_part_tokens: lint.part_tokens.map(Spanned::into_inner),
            warnings: unknown(path, text, table.get_ref()),
        })
    }
}

fn between(name: &str, bounds: &RangeInclusive<u64>) -> String {
    let (least, most) = (bounds.start(), bounds.end());
    format!("{name} must be a number from {least} to {most}; remove it to use the default")
}

/// What is wrong with a value, without the value: a key may stand where something else belongs.
pub(crate) fn without_value(message: &str) -> String {
    let message = message.trim_end().replace('\n', ", ");
    for said in ["invalid type: string \"", "invalid value: string \""] {
        let Some(rest) = message.strip_prefix(said) else { continue };
        if let Some((_, expected)) = rest.rsplit_once("\", expected ") {
            return format!("{}, expected {expected}", said.trim_end_matches(" \""));
        }
    }
    message
}

/// The byte offset of a setting by its dotted name, or of the last step that exists.
pub(crate) fn offset_of(table: &DeTable<'_>, name: &str) -> usize {
    let (mut offset, mut table) = (0, Some(table));
    for step in name.split('.') {
        let Some((key, value)) = table.and_then(|table| table.get_key_value(step)) else { break };
        offset = key.span().start;
        table = value.get_ref().as_table();
    }
    offset
}

/// Warnings about unknown keys, each with its place and a suggestion.
fn unknown(path: &Path, text: &str, table: &DeTable<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |key: &str, offset: usize, known: &[&str]| {
        let hint = match persona::nearest(key, known.iter().copied()).first() {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("expected one of {}", known.join(", ")),
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

/// `path:line:column` of a byte offset.
pub(crate) fn place(path: &Path, text: &str, offset: usize) -> String {
    let (line, column) = definition::place(text, offset);
    format!("{}:{line}:{column}", path.display())
}

#[cfg(test)]
mod tests;
