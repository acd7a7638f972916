//! `masque lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use persona::Scope;

use super::vocabulary;

#[derive(Debug, Args)]
#[command(after_help = "\
Exits with 1 if there is a finding of the --deny level or above, else with 0. Known providers are \
those of config.toml and of the project, those whose key is in the environment, ollama and llamacpp. \
If you have configured none, anthropic, openai and gemini are known too.

  masque lint
  masque lint --deny warning
  masque lint --scope shared --scope global
  masque lint --format sarif > masque.sarif          for code review")]
pub(crate) struct LintArgs {
    /// Check this scope; repeatable [default: the files and shared]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) scopes: Vec<Scope>,
    /// Output format [default: text, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<LintFormat>,
    /// Exit with 1 on findings of this level or above [default: error]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) deny: Option<Deny>,
    /// Accepted only to explain that lint takes no paths
    #[arg(hide = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// The output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people
    Text,
    /// One JSON value
    Json,
    /// SARIF 2.1.0, which code hosts show in review
    Sarif,
}

/// The lowest level that makes the command fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    Error,
    Warning,
    Note,
}
