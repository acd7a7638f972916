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

/// Calls and tokens that a run spends without its cache, if each question is answered at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    pub cells: usize,
    /// Calls of the subject's model and of the judge. Tools, and answers that are asked for again, take
    /// more.
    pub calls: u64,
    pub subject_calls: u64,
    pub judge_calls: u64,
    /// Tokens of all of them, by the length of the texts.
    pub tokens: u64,
}

/// The reason why a call must not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The run is unfinished.
    Reached(Cap),
    /// Calls under way may leave room: try again once one is settled.
    UnderWay,
}

/// Counts what a run spends. Every call is reserved before it is made, with the tokens and the cost that
/// it is expected to have, and settled with those that it had.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    caps: Caps,
    spent: Spent,
    /// Of calls under way.
    reserved: Spent,
    reached: Option<Cap>,
}

impl Budget {
    pub fn new(caps: Caps) -> Self {
        Self { caps, ..Self::default() }
    }

    /// True if the expected tokens of a call matter.
    pub fn bounds_tokens(&self) -> bool {
        self.caps.tokens.is_some() || self.caps.cost.is_some()
    }

    /// Reserves a call. Fails if the run could exceed a cap by it.
    pub fn reserve(&mut self, expected: Spent) -> Result<(), Refused> {
        let mut alone = self.spent;
        alone.add(expected);
        if let Some(cap) = self.exceeded(alone) {
            self.reached = Some(cap);
            return Err(Refused::Reached(cap));
        }
        let mut all = alone;
        all.add(self.reserved);
        if self.exceeded(all).is_some() {
            return Err(Refused::UnderWay);
        }
        self.reserved.add(expected);
        Ok(())
    }

    fn exceeded(&self, total: Spent) -> Option<Cap> {
        let Caps { calls, tokens, cost } = self.caps;
        if calls.is_some_and(|most| total.calls > most) {
            Some(Cap::MaxCalls)
        } else if tokens.is_some_and(|most| total.tokens() > most) {
            Some(Cap::MaxTokens)
        } else if cost.zip(total.cost).is_some_and(|(most, cost)| cost > most) {
            Some(Cap::MaxCost)
        } else {
            None
        }
    }

    /// Settles a reserved call with what it cost, whether it was answered or not.
    pub fn settle(&mut self, expected: Spent, spent: Spent) {
        self.reserved.subtract(expected);
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
    use super::{Budget, Cap, Caps, Refused, Spent};

    fn spent(calls: u64, input_tokens: u64, cost: Option<f64>) -> Spent {
        Spent { calls, input_tokens, output_tokens: 0, cost }
    }

    #[test]
    fn calls_under_way_count() {
        let mut budget = Budget::new(Caps { calls: Some(2), ..Caps::default() });
        let call = spent(1, 0, None);
        let reserved = [budget.reserve(call), budget.reserve(call), budget.reserve(call)];
        assert_eq!(reserved, [Ok(()), Ok(()), Err(Refused::UnderWay)]);
        assert_eq!(budget.reached(), None);
        budget.settle(call, spent(1, 10, None));
        assert_eq!(budget.reserve(call), Err(Refused::UnderWay));
        budget.settle(call, spent(1, 10, None));
        assert_eq!(budget.reserve(call), Err(Refused::Reached(Cap::MaxCalls)));
        assert_eq!((budget.reached(), budget.spent().calls), (Some(Cap::MaxCalls), 2));
    }

    #[test]
    fn tokens_and_cost_are_reserved_as_expected() {
        let mut budget = Budget::new(Caps { tokens: Some(100), cost: Some(1.0), ..Caps::default() });
        // A call that could exceed the cap is not made.
        assert_eq!(budget.reserve(spent(1, 101, None)), Err(Refused::Reached(Cap::MaxTokens)));
        assert_eq!(budget.reserve(spent(1, 10, Some(1.5))), Err(Refused::Reached(Cap::MaxCost)));
        budget.reserve(spent(1, 60, Some(0.5))).expect("room");
        assert_eq!(budget.reserve(spent(1, 60, Some(0.1))), Err(Refused::UnderWay));
        // It took fewer than expected.
        budget.settle(spent(1, 60, Some(0.5)), spent(1, 30, Some(0.7)));
        assert_eq!(budget.reserve(spent(1, 60, Some(0.4))), Err(Refused::Reached(Cap::MaxCost)));
        assert_eq!(budget.reserve(spent(1, 60, Some(0.2))), Ok(()));
    }

    #[test]
    fn a_failed_call_is_a_call() {
        let mut budget = Budget::new(Caps { calls: Some(1), ..Caps::default() });
        let call = spent(1, 50, None);
        budget.reserve(call).expect("room");
        budget.settle(call, spent(1, 0, None));
        assert_eq!(budget.reserve(call), Err(Refused::Reached(Cap::MaxCalls)));
        assert_eq!(budget.spent(), spent(1, 0, None));
    }
}
