//! Tracks as they are written down, in `track.toml` or as JSON.

use std::time::Duration;

use persona::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{SILENT_SECONDS, TOKENS_WITHOUT_CHANGE};
use crate::{Caps, Model, Patience, Ticket, TicketId, Tiers};

mod problems;
pub use problems::{Field, TrackProblem};

mod place;

mod shape;

mod file;
pub use file::{FileMistake, FileProblem, parse_track, track_schema};

mod render;
pub use render::to_toml;

/// A goal, broken down into tickets, and the rules by which they are worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Track {
    /// One line.
    pub title: String,
    /// What the track is for. Every worker sees it word for word.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub goal: String,
    /// The branch that the work starts from and is for. Defaults to the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The command that proves a ticket which names none itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What makes a fresh worktree usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Globs of the paths that a ticket without a scope may change. Empty: every path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// Tickets that are worked at once. Outside of a git repository, one.
    #[serde(default = "concurrency")]
    pub concurrency: usize,
    /// True if a person approves each step that calls a model or moves a branch.
    #[serde(default)]
    pub step_approval: bool,
    /// The most that tickets, the track and a day may spend.
    #[serde(default, skip_serializing_if = "Caps::is_none")]
    pub caps: Caps,
    /// Personas and models of the tiers.
    #[serde(default, skip_serializing_if = "Mma::is_empty")]
    pub mma: Mma,
    #[serde(default)]
    pub review: ReviewPolicy,
    #[serde(default)]
    pub escalation: Escalation,
    #[serde(default)]
    pub tickets: Vec<Ticket>,
}

fn concurrency() -> usize {
    3
}

impl Track {
    /// A track without tickets, with the defaults.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            goal: String::new(),
            base: None,
            check: None,
            setup: None,
            scope: Vec::new(),
            concurrency: concurrency(),
            step_approval: false,
            caps: Caps::default(),
            mma: Mma::default(),
            review: ReviewPolicy::default(),
            escalation: Escalation::default(),
            tickets: Vec::new(),
        }
    }

    pub fn ticket(&self, id: &TicketId) -> Option<&Ticket> {
        self.tickets.iter().find(|ticket| ticket.id == *id)
    }
}

/// The preparation of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Setup {
    /// Run in the worktree before the first attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Seconds that the command may take.
    #[serde(default = "setup_timeout")]
    pub timeout: u64,
    /// Ignored files and directories that are copied from the user's checkout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<String>,
}

fn setup_timeout() -> u64 {
    600
}

impl Default for Setup {
    fn default() -> Self {
        Self { command: None, timeout: setup_timeout(), copy: Vec::new() }
    }
}

/// The personas and models of tiers. The user's `config.toml` has the same table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Mma {
    /// The persona of a ticket that names none, by tier.
    #[serde(default, skip_serializing_if = "Tiers::is_empty")]
    pub default_personas: Tiers<Name>,
    /// The model of a persona that prefers none, by tier.
    #[serde(default, skip_serializing_if = "Tiers::is_empty")]
    pub default_models: Tiers<Model>,
}

impl Mma {
    pub fn is_empty(&self) -> bool {
        self.default_personas.is_empty() && self.default_models.is_empty()
    }
}

/// How results are reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct ReviewPolicy {
    /// False: what passes its check is merged without a review by tier 4.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Reviews of one result before the tech lead is asked.
    #[serde(default = "two")]
    pub rounds: u32,
    /// True if a reviewer with another model than the worker's is preferred.
    #[serde(default = "yes")]
    pub other_model: bool,
}

impl Default for ReviewPolicy {
    fn default() -> Self {
        Self { enabled: true, rounds: two(), other_model: true }
    }
}

fn yes() -> bool {
    true
}

fn two() -> u32 {
    2
}

/// The bounds of the ladder that a stuck ticket climbs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Escalation {
    /// Changes to the next preferred model of one ticket.
    #[serde(default = "two")]
    pub models: u32,
    /// Red checks of one model before the next one takes over.
    #[serde(default = "two")]
    pub red_checks: u32,
    /// Calls of one model that fail on their way in a row before the next one takes over.
    #[serde(default = "five")]
    pub transport_retries: u32,
    /// Seconds before the first retry. Each further one waits twice as long.
    #[serde(default = "two_seconds")]
    pub backoff: u64,
    /// True if tier 2 breaks a ticket down when its models have failed.
    #[serde(default = "yes")]
    pub split: bool,
    /// Tickets that fail in a row before the track is paused. 0: never.
    #[serde(default = "three")]
    pub failures: u32,
    /// Seconds without an event, while no command runs, after which a worker counts as stuck.
    #[serde(default = "silence")]
    pub silence: u64,
    /// Tokens that a worker may spend without a change of its files. 0: any number.
    #[serde(default = "tokens_without_change")]
    pub tokens_without_change: u64,
}

impl Default for Escalation {
    fn default() -> Self {
        Self {
            models: two(),
            red_checks: two(),
            transport_retries: five(),
            backoff: two_seconds(),
            split: true,
            failures: three(),
            silence: silence(),
            tokens_without_change: tokens_without_change(),
        }
    }
}

impl Escalation {
    /// How much the observer of a worker bears.
    pub fn patience(&self) -> Patience {
        let tokens = Some(self.tokens_without_change).filter(|tokens| *tokens > 0);
        Patience { tokens, silence: Duration::from_secs(self.silence) }
    }
}

fn silence() -> u64 {
    SILENT_SECONDS
}

fn tokens_without_change() -> u64 {
    TOKENS_WITHOUT_CHANGE
}

fn three() -> u32 {
    3
}

fn five() -> u32 {
    5
}

fn two_seconds() -> u64 {
    2
}
