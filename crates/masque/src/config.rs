//! The user's own `config.toml`.
//!
//! Only the user writes it. It decides what the files of a project may do.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use app::Code;
use conductor::Mma;
use llm::{ModelRef, Price, Prices};
use providers::Providers;
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};
use tools::{FetchSettings, SecretPatterns, ServerSettings, ShellSettings};

use crate::definition::{self, read_text};
use crate::failure::{Failure, Result};
use crate::output::{Warning, WarningCode};

mod setting_error;
pub(crate) use setting_error::SettingError;

/// The tables and their keys. None if the keys are free or checked elsewhere.
const KNOWN: [(&str, Option<&[&str]>); 10] = [
    ("env", Some(&["allow"])),
    ("providers", None),
    ("prices", None),
    ("mcp_servers", None),
    ("tools", Some(&["files", "shell", "fetch"])),
    ("run", Some(&["max_tool_rounds", "escalation_cooldown_s"])),
    ("mma", Some(&["default_personas", "default_models"])),
    ("history", Some(&["keep"])),
    ("lint", Some(&["part_tokens"])),
    ("telemetry", Some(&["endpoint"])),
];

/// Bounds of `run.escalation_cooldown_s`: at most a day.
const COOLDOWN_S: RangeInclusive<u64> = 0..=86_400;

/// The user's settings. A missing file means defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Config {
    /// Variables that `${env.NAME}` may expand to in files.
    pub(crate) env_allow: BTreeSet<String>,
    /// Model providers, by name.
    pub(crate) providers: BTreeMap<String, providers::ProviderSettings>,
    /// Prices of models.
    pub(crate) prices: Prices,
    /// MCP servers whose tools personas may use, by name.
    pub(crate) mcp_servers: BTreeMap<String, ServerSettings>,
    /// Patterns of files that are read only with the user's consent. None: the stock ones.
    pub(crate) secrets: Option<SecretPatterns>,
    pub(crate) shell: ShellSettings,
    /// None unless enabled.
    pub(crate) fetch: Option<FetchSettings>,
    /// Tool rounds of a run, for personas without a limit of their own.
    pub(crate) max_tool_rounds: Option<u32>,
    /// How long a fallback model stays in use.
    pub(crate) escalation_cooldown: Option<Duration>,
    /// Personas and models of tiers, for tracks that name none.
    pub(crate) mma: Mma,
    /// Revisions that servers keep of each entity. None keeps all.
    pub(crate) history_keep: Option<usize>,
    /// Lint warns about parts with more tokens than this.
    pub(crate) lint_part_tokens: Option<usize>,
    /// The OpenTelemetry collector that gets traces, unless the environment names one.
    pub(crate) trace_endpoint: Option<String>,
    /// Unknown keys, which have no effect, and what else the workspace found.
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct File {
    env: Env,
    providers: BTreeMap<String, providers::ProviderSettings>,
    prices: BTreeMap<String, Price>,
    mcp_servers: BTreeMap<String, ServerSettings>,
    tools: Tools,
    run: Run,
    mma: Mma,
    history: History,
    lint: Lint,
    telemetry: Telemetry,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Env {
    allow: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tools {
    files: FileSettings,
    shell: ShellSettings,
    fetch: FetchSettings,
}

/// `[tools.files]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileSettings {
    secrets: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Run {
    max_tool_rounds: Option<u64>,
    escalation_cooldown_s: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct History {
    keep: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Lint {
    part_tokens: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Telemetry {
    endpoint: Option<String>,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = match read_text(path) {
            Err(Failure::Reported(report)) if report.code == Code::FileNotFound => return Ok(Self::default()),
            text => text?,
        };
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self> {
        Self::parse_settings(path, text).map_err(|error| error.at(path, text))
    }

    fn parse_settings(path: &Path, text: &str) -> std::result::Result<Self, SettingError> {
        let table = DeTable::parse(text).map_err(|error| SettingError::syntax(&error))?;
        let table = table.get_ref();
        let fields: Map<String, Value> =
            toml::from_str(text).map_err(|error| SettingError::syntax(&error))?;
        let file = app::inputs::parse(&fields);
        let file = file.map_err(|error| SettingError::input(&error, &fields, table))?;
        let File { env, providers, prices, mcp_servers, tools, run, mma, history, lint, telemetry } = file;
        if let Err(error) = Providers::build(providers.clone(), &|_| None) {
            return Err(SettingError::new(error.to_string(), key_offset(table, &error.place)));
        }
        let invalid =
            |name: &str, message: String| Err(SettingError::new(message, value_offset(table, name)));
        let prices = match prices_of(prices) {
            Ok(prices) => prices,
            Err((model, problem)) => {
                return Err(SettingError::new(problem, key_offset(table, &format!("prices.{model}"))));
            }
        };
        if history.keep == Some(0) {
            let message = "history.keep must be at least 1: the newest revision is always kept";
            return invalid("history.keep", message.to_owned());
        }
        if lint.part_tokens == Some(0) {
            let message = "lint.part_tokens must be at least 1; remove it to use the default";
            return invalid("lint.part_tokens", message.to_owned());
        }
        if let Some(Err(problem)) = telemetry.endpoint.as_deref().map(::telemetry::check_endpoint) {
            return invalid("telemetry.endpoint", format!("telemetry.endpoint: {problem}"));
        }
        let secrets =
            tools.files.secrets.map(|patterns| SecretPatterns::parse(patterns.iter().map(String::as_str)));
        let secrets = match secrets.transpose() {
            Ok(secrets) => secrets,
            Err(error) => {
                let message = format!("tools.files.secrets: {error}: {}", error.source);
                return invalid("tools.files.secrets", message);
            }
        };
        let shell_times = 1..=tools::limits::MOST_COMMAND_TIME.as_secs();
        let rounds = 1..=u64::from(persona::limits::TOOL_ROUNDS);
        for (name, value, bounds) in [
            ("tools.shell.timeout_s", tools.shell.timeout_s, shell_times),
            ("run.max_tool_rounds", run.max_tool_rounds, rounds),
            ("run.escalation_cooldown_s", run.escalation_cooldown_s, COOLDOWN_S),
        ] {
            if value.is_some_and(|value| !bounds.contains(&value)) {
                return invalid(name, between(name, &bounds));
            }
        }
        Ok(Self {
            env_allow: env.allow,
            providers,
            prices,
            mcp_servers,
            secrets,
            shell: tools.shell,
            fetch: Some(tools.fetch).filter(|fetch| fetch.enabled),
            max_tool_rounds: run.max_tool_rounds.and_then(|rounds| u32::try_from(rounds).ok()),
            escalation_cooldown: run.escalation_cooldown_s.map(Duration::from_secs),
            mma,
            history_keep: history.keep,
            lint_part_tokens: lint.part_tokens,
            trace_endpoint: telemetry.endpoint,
            warnings: unknown(path, text, table),
        })
    }
}

/// The prices by model. Fails with the key of an invalid one.
fn prices_of(prices: BTreeMap<String, Price>) -> std::result::Result<Prices, (String, String)> {
    let checked = prices.into_iter().map(|(key, price)| match key.parse::<ModelRef>() {
        Err(error) => Err((key, format!("prices: {error}"))),
        Ok(_) if !price.is_valid() => {
            let message = format!("prices.{key:?}: prices must be 0 or more, for a million tokens");
            Err((key, message))
        }
        Ok(model) => Ok((model, price)),
    });
    checked.collect()
}

fn between(name: &str, bounds: &RangeInclusive<u64>) -> String {
    let (least, most) = (bounds.start(), bounds.end());
    format!("{name} must be a number from {least} to {most}; remove it to use the default")
}

/// The byte offset of a setting's key by its dotted name, or of the last step that exists.
pub(crate) fn key_offset(table: &DeTable<'_>, name: &str) -> usize {
    offsets(table, name).0
}

/// The byte offset of a setting's value, or of the last step that exists.
pub(crate) fn value_offset(table: &DeTable<'_>, name: &str) -> usize {
    offsets(table, name).1
}

/// The places of a key and of its value, or of the last table on the way to it. Keys may have dots.
fn offsets(table: &DeTable<'_>, name: &str) -> (usize, usize) {
    let (mut found, mut table, mut rest) = ((0, 0), Some(table), name);
    while let Some(here) = table {
        let steps = here.iter().filter_map(|(key, value)| {
            let below = rest.strip_prefix(&**key.get_ref())?;
            (below.is_empty() || below.starts_with(['.', '['])).then_some((key, value, below))
        });
        let Some((key, value, below)) = steps.min_by_key(|(_, _, below)| below.len()) else { break };
        found = (key.span().start, value.span().start);
        (table, rest) = (value.get_ref().as_table(), below.trim_start_matches(['.', '[']));
    }
    found
}

/// The nearest of some known words, or all of them.
fn suggestion(word: &str, known: &[&str]) -> String {
    match persona::nearest(word, known.iter().copied()).first() {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("expected one of {}", known.join(", ")),
    }
}

/// Warnings about unknown keys, each with its place and a suggestion.
fn unknown(path: &Path, text: &str, table: &DeTable<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |key: &str, offset: usize, known: &[&str]| {
        let hint = suggestion(key, known);
        let message = format!("{}: unknown key {key:?} has no effect; {hint}", place(path, text, offset));
        warnings.push(Warning::new(WarningCode::UnknownSetting, message));
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
