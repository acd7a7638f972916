//! Tickets as they are written down.

use std::borrow::Cow;
use std::fmt;

use persona::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{Cap, Model, TicketId};

/// One piece of work of a track, as it is written down. What became of it is in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Ticket {
    /// Unique in the track, upper and lower case alike.
    pub id: TicketId,
    /// One line.
    pub title: String,
    /// The work to do, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// 1 orchestrator, 2 tech lead, 3 worker (the default), 4 reviewer.
    #[serde(default)]
    pub tier: Tier,
    /// Tickets that must be merged before this one starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TicketId>,
    /// The persona that works it. Defaults to the persona of its tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_id: Option<Name>,
    /// The model that works it first, before the models of the persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_override: Option<Model>,
    /// Files that the worker sees in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The context preset of the worker. Defaults to the persona's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_preset: Option<Name>,
    /// What must hold when the ticket is done: one text, or a list of criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list_or_text")]
    #[schemars(schema_with = "list_or_text_schema")]
    pub acceptance: Vec<String>,
    /// The command that proves the ticket. Defaults to the track's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Globs of the paths that the ticket may change. Defaults to the track's; empty: every path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// The most that the ticket may spend. Defaults to the track's cap per ticket.
    #[serde(default, skip_serializing_if = "Cap::is_none")]
    pub caps: Cap,
}

impl Ticket {
    /// A ticket with an id and a title alone.
    pub fn new(id: TicketId, title: impl Into<String>) -> Self {
        Self {
            id,
            title: title.into(),
            description: String::new(),
            tier: Tier::default(),
            depends_on: Vec::new(),
            persona_id: None,
            model_override: None,
            files: Vec::new(),
            context_preset: None,
            acceptance: Vec::new(),
            check: None,
            scope: Vec::new(),
            caps: Cap::default(),
        }
    }
}

fn list_or_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ListOrText {
        Text(String),
        List(Vec<String>),
    }
    Ok(match ListOrText::deserialize(deserializer)? {
        ListOrText::Text(text) => vec![text],
        ListOrText::List(list) => list,
    })
}

fn list_or_text_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
}

/// The tier of a persona in a track. Written as a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Tier {
    /// 1: drafts tracks.
    Orchestrator,
    /// 2: breaks tickets down.
    TechLead,
    /// 3: works tickets.
    #[default]
    Worker,
    /// 4: reviews results.
    Reviewer,
}

impl Tier {
    pub const ALL: [Self; 4] = [Self::Orchestrator, Self::TechLead, Self::Worker, Self::Reviewer];

    pub const fn number(self) -> u8 {
        match self {
            Self::Orchestrator => 1,
            Self::TechLead => 2,
            Self::Worker => 3,
            Self::Reviewer => 4,
        }
    }

    /// The tier as a key of `[mma]` tables.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Orchestrator => "Tier 1",
            Self::TechLead => "Tier 2",
            Self::Worker => "Tier 3",
            Self::Reviewer => "Tier 4",
        }
    }

    /// The builtin persona of the tier.
    pub const fn builtin_persona(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::TechLead => "tech_lead",
            Self::Worker => "code_worker",
            Self::Reviewer => "qa_reviewer",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl TryFrom<u8> for Tier {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|tier| tier.number() == number)
            .ok_or_else(|| format!("a tier is a number from 1 to 4, not {number}"))
    }
}

impl From<Tier> for u8 {
    fn from(tier: Tier) -> Self {
        tier.number()
    }
}

impl JsonSchema for Tier {
    fn schema_name() -> Cow<'static, str> {
        "Tier".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": 4 })
    }
}

/// One value per tier, written as a table with the keys "Tier 1" to "Tier 4".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tiers<T> {
    #[serde(rename = "Tier 1", skip_serializing_if = "Option::is_none")]
    pub orchestrator: Option<T>,
    #[serde(rename = "Tier 2", skip_serializing_if = "Option::is_none")]
    pub tech_lead: Option<T>,
    #[serde(rename = "Tier 3", skip_serializing_if = "Option::is_none")]
    pub worker: Option<T>,
    #[serde(rename = "Tier 4", skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<T>,
}

impl<T> Default for Tiers<T> {
    fn default() -> Self {
        Self { orchestrator: None, tech_lead: None, worker: None, reviewer: None }
    }
}

impl<T> Tiers<T> {
    pub fn get(&self, tier: Tier) -> Option<&T> {
        match tier {
            Tier::Orchestrator => self.orchestrator.as_ref(),
            Tier::TechLead => self.tech_lead.as_ref(),
            Tier::Worker => self.worker.as_ref(),
            Tier::Reviewer => self.reviewer.as_ref(),
        }
    }

    pub fn set(&mut self, tier: Tier, value: Option<T>) {
        match tier {
            Tier::Orchestrator => self.orchestrator = value,
            Tier::TechLead => self.tech_lead = value,
            Tier::Worker => self.worker = value,
            Tier::Reviewer => self.reviewer = value,
        }
    }

    pub fn is_empty(&self) -> bool {
        Tier::ALL.iter().all(|tier| self.get(*tier).is_none())
    }
}
