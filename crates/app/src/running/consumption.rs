//! Usage of models by this process, for the metrics of servers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use llm::{ModelRef, Prices, Usage};
use persona::Name;

/// Pairs of a persona and a model that are counted apart. Later ones are counted together.
const MOST_PAIRS: usize = 1_000;
/// The name of these. No persona has it.
const OTHERS: &str = "(others)";
/// The name of judges: their calls are not a persona's. No persona has it.
const JUDGE: &str = "(judge)";

/// The calls and tokens of a persona, or of judges, with a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Consumed {
    pub persona: String,
    pub provider: String,
    pub model: String,
    pub calls: u64,
    pub usage: Usage,
    /// In the currency of the prices. `None` if the model has no price.
    pub cost: Option<f64>,
}

/// Calls and tokens since the start, by persona and model.
#[derive(Debug, Default)]
pub(super) struct Consumption(Mutex<BTreeMap<Pair, (u64, Usage)>>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    persona: String,
    provider: String,
    model: String,
}

impl Consumption {
    /// Counts a finished call.
    pub(super) fn count(&self, persona: &Name, model: &ModelRef, usage: Usage) {
        self.add(persona.as_str(), model, usage);
    }

    /// Counts a finished call of a judge.
    pub(super) fn count_judge(&self, model: &ModelRef, usage: Usage) {
        self.add(JUDGE, model, usage);
    }

    fn add(&self, persona: &str, model: &ModelRef, usage: Usage) {
        let ModelRef { provider, model } = model.clone();
        let mut pair = Pair { persona: persona.to_owned(), provider, model };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_PAIRS && !all.contains_key(&pair) {
            pair = Pair { persona: OTHERS.to_owned(), provider: OTHERS.to_owned(), model: OTHERS.to_owned() };
        }
        let (calls, sum) = all.entry(pair).or_default();
        *calls += 1;
        *sum += usage;
    }

    pub(super) fn all(&self, prices: &Prices) -> Vec<Consumed> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let consumed = all.iter().map(|(pair, (calls, usage))| {
            let Pair { persona, provider, model } = pair.clone();
            let cost = prices.cost(&ModelRef { provider: provider.clone(), model: model.clone() }, *usage);
            Consumed { persona, provider, model, calls: *calls, usage: *usage, cost }
        });
        consumed.collect()
    }
}

#[cfg(test)]
mod tests {
    use llm::Price;

    use super::*;

    fn count(consumption: &Consumption, persona: &str, model: &str) {
        let persona = Name::parse(persona).expect("a name");
        let model = model.parse().expect("a model");
        consumption.count(&persona, &model, Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() });
    }

    #[test]
    fn calls_add_up_by_persona_and_model() {
        let consumption = Consumption::default();
        for (persona, model) in [("guide", "a/x"), ("guide", "a/x"), ("guide", "b/x"), ("clerk", "a/x")] {
            count(&consumption, persona, model);
        }
        let judge = "a/x".parse().expect("a model");
        consumption.count_judge(&judge, Usage { input_tokens: 1, ..Usage::default() });
        let price = Price { input: 1_000_000.0, output: 500_000.0, cache_read: None, cache_write: None };
        let prices = Prices::from_iter([("a/x".parse().expect("a model"), price)]);
        let lines: Vec<String> = (consumption.all(&prices).iter())
            .map(|used| {
                let Consumed { persona, provider, model, calls, usage, cost } = used;
                let Usage { input_tokens, output_tokens, .. } = usage;
                format!("{persona} {provider}/{model} {calls} {input_tokens} {output_tokens} {cost:?}")
            })
            .collect();
        assert_eq!(
            lines,
            [
                "(judge) a/x 1 1 0 Some(1.0)",
                "clerk a/x 1 3 2 Some(4.0)",
                "guide a/x 2 6 4 Some(8.0)",
                "guide b/x 1 3 2 None"
            ]
        );
    }

    #[test]
    fn the_number_of_pairs_is_bounded() {
        let consumption = Consumption::default();
        for number in 0..MOST_PAIRS + 5 {
            count(&consumption, &format!("p{number}"), "a/x");
        }
        count(&consumption, "p0", "a/x");
        let all = consumption.all(&Prices::default());
        assert_eq!(all.len(), MOST_PAIRS + 1);
        let calls = |name: &str| all.iter().find(|used| used.persona == name).map(|used| used.calls);
        assert_eq!((calls("p0"), calls(OTHERS)), (Some(2), Some(5)));
    }
}
