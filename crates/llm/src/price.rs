//! Prices of models.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{ModelRef, Usage};

/// The price of a model's tokens, for a million of them.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Of input that is read from the provider's cache. Defaults to `input`.
    pub cache_read: Option<f64>,
    /// Of input that is written into the provider's cache. Defaults to `input`.
    pub cache_write: Option<f64>,
}

impl Price {
    /// True if no part of it is negative or infinite.
    pub fn is_valid(&self) -> bool {
        let Self { input, output, cache_read, cache_write } = *self;
        let parts = [Some(input), Some(output), cache_read, cache_write];
        parts.into_iter().flatten().all(|part| part.is_finite() && part >= 0.0)
    }

    /// The cost of one or more calls.
    pub fn of(&self, usage: Usage) -> f64 {
        let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
        let plain = input_tokens.saturating_sub(cache_read_tokens).saturating_sub(cache_write_tokens);
        let sum = self.input * plain as f64
            + self.cache_read.unwrap_or(self.input) * cache_read_tokens as f64
            + self.cache_write.unwrap_or(self.input) * cache_write_tokens as f64
            + self.output * output_tokens as f64;
        sum / 1_000_000.0
    }
}

/// The prices that the user configured. Those of other models are unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    pub fn get(&self, model: &ModelRef) -> Option<Price> {
        self.0.get(&model.to_string()).copied()
    }

    /// The cost of one or more calls of a model. `None` if its price is unknown.
    pub fn cost(&self, model: &ModelRef, usage: Usage) -> Option<f64> {
        self.get(model).map(|price| price.of(usage))
    }
}

impl FromIterator<(ModelRef, Price)> for Prices {
    fn from_iter<T: IntoIterator<Item = (ModelRef, Price)>>(prices: T) -> Self {
        Self(prices.into_iter().map(|(model, price)| (model.to_string(), price)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(cache_read: Option<f64>, cache_write: Option<f64>) -> Price {
        Price { input: 3.0, output: 15.0, cache_read, cache_write }
    }

    #[test]
    fn prices_are_for_a_million_tokens() {
        let usage = Usage { input_tokens: 1_000_000, output_tokens: 100_000, ..Usage::default() };
        assert_eq!(price(None, None).of(usage), 4.5);
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 0,
            cache_read_tokens: 500_000,
            cache_write_tokens: 100_000,
        };
        assert_eq!(price(None, None).of(usage), 3.0);
        assert_eq!(price(Some(0.5), Some(4.0)).of(usage), 1.2 + 0.25 + 0.4);
        // A provider that counts them beside the input costs no less than nothing.
        let odd = Usage { input_tokens: 10, cache_read_tokens: 1_000_000, ..Usage::default() };
        assert_eq!(price(Some(0.2), None).of(odd), 0.2);
    }

    #[test]
    fn a_model_without_a_price_has_no_cost() {
        let model = |text: &str| text.parse::<ModelRef>().expect("a model");
        let prices: Prices = [(model("a/x"), price(None, None))].into_iter().collect();
        let usage = Usage { output_tokens: 1_000_000, ..Usage::default() };
        assert_eq!(prices.cost(&model("a/x"), usage), Some(15.0));
        assert_eq!(prices.cost(&model("b/x"), usage), None);
    }

    #[test]
    fn odd_prices_are_invalid() {
        assert!(price(Some(0.0), None).is_valid());
        for odd in [f64::NAN, f64::INFINITY, -0.1] {
            assert!(!price(None, Some(odd)).is_valid(), "{odd}");
        }
    }
}
