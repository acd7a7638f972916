//! One budget for the subject and the judge together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::Spent;

/// The most that a run may spend. Absent: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    pub calls: Option<u64>,
    pub tokens: Option<u64>,
    /// In the currency of the prices.
    pub cost: Option<f64>,
}

/// The cap that a run reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Cap {
    MaxCalls,
    MaxTokens,
    MaxCost,
}

impl Cap {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaxCalls => "max_calls",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
        }
    }
}

/// The price of a model's tokens, for a million of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

impl Price {
    pub fn of(&self, input_tokens: u64, output_tokens: u64) -> f64 {
        (self.input * input_tokens as f64 + self.output * output_tokens as f64) / 1_000_000.0
    }
}

/// Calls and tokens that a run would spend without its cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    pub cells: usize,
    /// Calls of the subject's model and of the judge, if each is answered at once.
    pub calls: u64,
    pub subject_calls: u64,
    pub judge_calls: u64,
    /// Tokens of all of them, by the length of the texts.
    pub tokens: u64,
}

/// Counts what a run spends. A call is reserved before it is made.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    caps: Caps,
    spent: Spent,
    reserved: u64,
    reached: Option<Cap>,
}

impl Budget {
    pub fn new(caps: Caps) -> Self {
        Self { caps, ..Self::default() }
    }

    /// Reserves a call. Fails with the cap that is reached; then the run is unfinished.
    pub fn reserve(&mut self) -> Result<(), Cap> {
        let Caps { calls, tokens, cost } = self.caps;
        let cap = if calls.is_some_and(|most| self.spent.calls + self.reserved >= most) {
            Some(Cap::MaxCalls)
        } else if tokens.is_some_and(|most| self.spent.tokens() >= most) {
            Some(Cap::MaxTokens)
        } else if cost.zip(self.spent.cost).is_some_and(|(most, cost)| cost >= most) {
            Some(Cap::MaxCost)
        } else {
            None
        };
        match cap {
            Some(cap) => {
                self.reached = Some(cap);
                Err(cap)
            }
            None => {
                self.reserved += 1;
                Ok(())
            }
        }
    }

    /// Settles a reserved call with what it cost: any number of calls, since a run of tools makes several.
    pub fn settle(&mut self, spent: Spent) {
        self.reserved = self.reserved.saturating_sub(1);
        self.spent.add(spent);
    }

    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// The cap that a call was refused for.
    pub fn reached(&self) -> Option<Cap> {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Cap, Caps, Price, Spent};

    fn spent(calls: u64, input_tokens: u64, cost: Option<f64>) -> Spent {
        Spent { calls, input_tokens, output_tokens: 0, cost }
    }

    #[test]
    fn calls_under_way_count() {
        let mut budget = Budget::new(Caps { calls: Some(2), ..Caps::default() });
        assert_eq!(
            [budget.reserve(), budget.reserve(), budget.reserve()],
            [Ok(()), Ok(()), Err(Cap::MaxCalls)]
        );
        assert_eq!(budget.reached(), Some(Cap::MaxCalls));
        budget.settle(spent(1, 10, None));
        assert_eq!(budget.reserve(), Err(Cap::MaxCalls));
    }

    #[test]
    fn tokens_and_cost_end_a_run_after_the_call_that_reaches_them() {
        let mut budget = Budget::new(Caps { tokens: Some(100), cost: Some(1.0), ..Caps::default() });
        budget.reserve().expect("room");
        budget.settle(spent(1, 99, Some(0.4)));
        assert_eq!(budget.reserve(), Ok(()));
        budget.settle(spent(1, 0, Some(0.7)));
        assert_eq!(budget.reserve(), Err(Cap::MaxCost));
        budget.settle(spent(1, 5, None));
        assert_eq!(budget.reserve(), Err(Cap::MaxTokens));
        assert_eq!(budget.spent().calls, 3);
    }

    #[test]
    fn prices_are_for_a_million_tokens() {
        assert_eq!(Price { input: 3.0, output: 15.0 }.of(1_000_000, 100_000), 4.5);
    }
}
