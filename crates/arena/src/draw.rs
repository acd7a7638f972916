//! Random draws: one stream per purpose, each a function of the seed, the purpose and a counter.
//!
//! A draw for one purpose never moves the stream of another one, so a rule that draws more often changes
//! nothing elsewhere. Every draw is a fact of the log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A number that was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    pub purpose: String,
    /// The number is below this.
    pub of: u64,
    pub value: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Draws {
    seed: u64,
    counters: BTreeMap<String, u64>,
    /// Draws that the log does not have yet.
    drawn: Vec<Draw>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, counters: BTreeMap::new(), drawn: Vec::new() }
    }

    /// A number below `of`, each with the same chance. 0 if there is none.
    pub(crate) fn below(&mut self, purpose: &str, of: u64) -> u64 {
        if of <= 1 {
            return 0;
        }
        let counter = self.counters.entry(purpose.to_owned()).or_default();
        let stream = mix(self.seed ^ hash(purpose.as_bytes()));
        // Numbers above the last multiple of `of` would favour the first ones.
        let fair = u64::MAX - u64::MAX % of;
        let value = loop {
            let number = mix(stream.wrapping_add(counter.wrapping_mul(GOLDEN)));
            *counter += 1;
            if number < fair {
                break number % of;
            }
        };
        self.drawn.push(Draw { purpose: purpose.to_owned(), of, value });
        value
    }

    /// A seed for the sampling of one model call. Not counted: it depends on the call alone.
    pub(crate) fn sampling(&self, call: &str) -> u32 {
        // The upper half of the number: it fits.
        (mix(self.seed ^ hash(call.as_bytes())) >> 32) as u32
    }

    pub(crate) fn take_drawn(&mut self) -> Vec<Draw> {
        std::mem::take(&mut self.drawn)
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finalizer of SplitMix64: every bit of the input changes half of the output's bits.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(GOLDEN);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// FNV-1a.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
