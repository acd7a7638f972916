//! Who works a ticket: the persona and the models, in the order of application.

use persona::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Model;

/// The part that a persona plays for a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Role {
    Worker,
    Reviewer,
    /// Breaks a ticket down.
    Lead,
}

/// The persona and the models of a role, models in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Casting {
    /// Absent if none could be loaded: the defaults work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Name>,
    pub models: Vec<Model>,
    /// A persona that could not be loaded, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fell_back: Option<FellBack>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FellBack {
    pub persona: Name,
    pub reason: String,
}
