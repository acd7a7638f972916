//! Costs: what a call may cost at worst is reserved before it is made, and settled after.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Money, TicketId};

/// The most that one account may spend. Absent: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Cap {
    /// Tokens of all calls, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money, in the currency of the prices. A model without a known price is refused under such a cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

impl Cap {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The caps of a track.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct Caps {
    /// Of each ticket that has none itself.
    #[serde(default, skip_serializing_if = "Cap::is_none")]
    pub ticket: Cap,
    /// Of the track as a whole.
    #[serde(default, skip_serializing_if = "Cap::is_none")]
    pub track: Cap,
    /// Of the track in one day, in UTC.
    #[serde(default, skip_serializing_if = "Cap::is_none")]
    pub day: Cap,
}

impl Caps {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    pub tokens: u64,
    #[serde(default)]
    pub cost: Money,
    /// Tokens of models whose price is not known. They are part of `tokens`, and no part of `cost`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a call costs, or may cost at worst. `cost` is absent if the model's price is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Charge {
    pub tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
}

/// One of the sums that a call counts for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "account", rename_all = "snake_case")]
pub enum Account {
    Ticket {
        ticket: TicketId,
    },
    Track,
    /// A day in UTC, as `2026-11-18`.
    Day {
        day: String,
    },
}

/// The unit of a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum CapUnit {
    Tokens,
    Cost,
}
