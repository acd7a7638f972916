//! Decides whether the turns of a session fit into a model's context.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{Conversation, Turn, cut};

/// The share of the room for turns at which older ones are summed up.
const FULL: f64 = 0.8;
/// The share of that room that stays verbatim.
const VERBATIM: f64 = 0.35;
/// Tokens left free for the answer, if its length is not limited.
const ANSWER_TOKENS: u32 = 4096;
/// A lower bound of a token's bytes: a short conversation need not be counted.
const BYTES_PER_TOKEN: usize = 2;
/// Overhead of a turn, in tokens.
const OVERHEAD_TOKENS: usize = 8;

/// A model's context.
#[derive(Debug, Clone, Copy)]
pub struct ContextWindow {
    /// Its size. None if unknown.
    pub tokens: Option<u32>,
    /// Tokens of the prompt, which is never summed up.
    pub prompt_tokens: usize,
    /// The limit of the answer. None if there is none.
    pub answer_tokens: Option<u32>,
}

/// Older turns that have to be summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    /// The last of them.
    pub through: Uuid,
    /// Tokens of turns that stay verbatim.
    pub keep: usize,
}

impl ContextWindow {
    /// The turns that must be summed up before the next call. `is_refused`: the model has refused them,
    /// so they do not fit, whatever its window is.
    pub fn overflow(
        &self,
        conversation: &Conversation,
        count: &dyn Fn(&str) -> usize,
        is_refused: bool,
    ) -> Option<Overflow> {
        let bytes = conversation.bytes_in_force();
        let window = match self.tokens {
            Some(tokens) => tokens as usize,
            // The window of a model that refused is smaller than this.
            None if is_refused => bytes / BYTES_PER_TOKEN,
            None => return None,
        };
        let answer = self.answer_tokens.unwrap_or(ANSWER_TOKENS) as usize;
        let room = window.saturating_sub(self.prompt_tokens).saturating_sub(answer.min(window / 2));
        let share = |share: f64| (room as f64 * share) as usize;
        let (full, keep) = (share(FULL), share(VERBATIM));
        if bytes / BYTES_PER_TOKEN < full && !is_refused {
            return None;
        }
        let tokens: HashMap<Uuid, usize> = conversation
            .tokens_in_force(count)
            .map(|(turn, tokens)| (turn.id, tokens + OVERHEAD_TOKENS))
            .collect();
        let all: usize = tokens.values().sum();
        if all < full && !is_refused {
            return None;
        }
        let tokens = |turn: &Turn| tokens.get(&turn.id).copied().unwrap_or_default();
        cut(conversation.turns(), &tokens, keep.min(all / 2)).map(|through| Overflow { through, keep })
    }
}

#[cfg(test)]
mod tests;
