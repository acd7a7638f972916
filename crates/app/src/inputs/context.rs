//! The input of a look at the files that a prompt would have.

use persona::{Aggregation, Name};
use schemars::JsonSchema;
use serde::Deserialize;

/// The files of the project that a run would show to its model.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowContext {
    /// A context preset; default: the persona's
    #[serde(default)]
    pub preset: Option<Name>,
    /// The persona whose preset and strategy are meant
    #[serde(default)]
    pub persona: Option<Name>,
    /// How files are condensed; default: the persona's, else `auto`
    #[serde(default)]
    pub strategy: Option<Aggregation>,
    /// The most tokens of all files together; default: the preset's
    #[serde(default)]
    pub budget: Option<u32>,
    /// Files that come first, and in full
    #[serde(default)]
    pub files: Vec<String>,
    /// The task in words: it decides which files matter
    #[serde(default)]
    pub task: String,
}
