//! Lint.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use persona::Scope;

use super::vocabulary;

#[derive(Debug, Args)]
#[command(after_help = "\
Exit code 1 if there is an error, or what --deny says; 0 otherwise. The providers that a model may
name are those of config.toml and of the project, those whose key is in the environment, and ollama
and llamacpp. Where you have set up none, anthropic, openai and gemini pass as well.

  masque lint
  masque lint --deny warning
  masque lint --scope shared --scope global
  masque lint --format sarif > masque.sarif          for a code host's review")]
pub(crate) struct LintArgs {
    /// What to look at; repeat it for more [default: the files; without any, shared]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = vocabulary(Scope::ALL, Scope::as_str))]
    pub(crate) scopes: Vec<Scope>,
    /// How to print what is found [default: text, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<LintFormat>,
    /// Count these, and all that is worse, as errors in the exit code [default: error]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) deny: Option<Deny>,
    /// Nothing is looked at by its path; whoever tries is told how
    #[arg(hide = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// For people
    Text,
    /// One JSON value
    Json,
    /// SARIF 2.1.0, which code hosts show in review
    Sarif,
}

/// The mildest finding that makes the command fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    Error,
    Warning,
    Note,
}
