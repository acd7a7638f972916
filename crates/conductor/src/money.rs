//! Amounts of money in millionths, so that sums are exact and a database can compare them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// An amount in the currency of the prices. Written as a decimal number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Money(u64);

/// The largest amount, which a database's signed integers and an `f64` hold exactly.
const MOST_MICROS: u64 = 1 << 52;

impl Money {
    pub const ZERO: Self = Self(0);

    /// An amount of so many millionths.
    pub const fn from_micros(micros: u64) -> Self {
        Self(if micros > MOST_MICROS { MOST_MICROS } else { micros })
    }

    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The nearest amount. `None` if it is negative, not a number, or beyond four billion.
    pub fn from_units(units: f64) -> Option<Self> {
        let micros = (units * 1e6).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked right before")]
        (micros >= 0.0 && micros <= MOST_MICROS as f64).then_some(Self(micros as u64))
    }

    pub fn units(self) -> f64 {
        self.0 as f64 / 1e6
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::from_micros(self.0.saturating_add(other.0))
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl TryFrom<f64> for Money {
    type Error = &'static str;

    fn try_from(units: f64) -> Result<Self, Self::Error> {
        Self::from_units(units).ok_or("an amount of money is a number from 0 to four billion")
    }
}

impl From<Money> for f64 {
    fn from(money: Money) -> Self {
        money.units()
    }
}

/// Two decimals, or as many more as a small amount needs.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.0 == 0 || self.0 >= 10_000 { 2 } else { 6 };
        write!(f, "{:.decimals$}", self.units())
    }
}

impl JsonSchema for Money {
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}
