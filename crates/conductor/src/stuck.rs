//! Signs that a worker is stuck, found in its actions.

use std::collections::VecDeque;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::limits::{
    BACK_AND_FORTH, ERRORS_IN_A_ROW, OBSERVED, SAME_ACTIONS, SAME_CHECKS, SILENT_SECONDS,
    TOKENS_WITHOUT_CHANGE,
};

/// A sign that a worker is stuck, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum Signal {
    /// The same action had the same result so many times in a row.
    SameAction {
        tool: String,
        times: u32,
    },
    /// Two actions took turns, with the same results.
    BackAndForth {
        tools: [String; 2],
        times: u32,
    },
    ErrorsInARow {
        tool: String,
        times: u32,
    },
    /// So many tokens were spent since the tree last changed.
    NoProgress {
        tokens: u64,
    },
    /// The same check failed in the same way so many times.
    SameCheckFails {
        command: String,
        times: u32,
    },
    /// No event for so long, and no child process lives.
    Silent {
        seconds: u64,
    },
}

/// A fingerprint of a text, by which equal ones are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Equal for equal texts.
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        let first = digest.first_chunk().copied().unwrap_or_default();
        Self(u64::from_be_bytes(first))
    }

    /// Equal for outputs of a check that differ in numbers and space alone, such as times and addresses.
    pub fn of_failure(output: &str) -> Self {
        let mut plain = String::with_capacity(output.len());
        for word in output.split_whitespace() {
            let is_address = word.contains("0x");
            let letters =
                word.chars().filter(|c| !(c.is_ascii_digit() || is_address && c.is_ascii_hexdigit()));
            plain.extend(letters);
            plain.push(' ');
        }
        Self::of(&plain)
    }
}

/// One action of a worker with its result. Its thoughts are no part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub tool: String,
    pub input: Fingerprint,
    pub result: Fingerprint,
    pub is_error: bool,
}

/// One thing that is seen of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// A call of a tool ended.
    Action(Action),
    /// A model call ended, and cost so many tokens.
    Spent(u64),
    /// The state of the tree.
    Tree(Fingerprint),
    /// A check ended: with a fingerprint of how it failed, or green.
    Check { command: String, failure: Option<Fingerprint> },
    /// Any other event of the session, such as text that is streamed or a call that begins.
    Event,
    /// The process that drives the run is alive. Says nothing about the run.
    Beat,
    /// A child process of the run is alive, however silent it is.
    ChildAlive,
    /// The run waits for a person.
    Waiting,
}

/// How much an observer bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Tokens that may be spent without a change of the tree. Absent for a run that changes none.
    pub tokens: Option<u64>,
    /// The longest time without an event.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tokens: Some(TOKENS_WITHOUT_CHANGE), silence: Duration::from_secs(SILENT_SECONDS) }
    }
}

/// Watches one run for signs that it is stuck.
///
/// Times are those of a monotonic clock, since any point that all of them share.
#[derive(Debug, Clone)]
pub struct Observer {
    patience: Patience,
    /// The last actions, the newest last.
    actions: VecDeque<Action>,
    tree: Option<Fingerprint>,
    /// Tokens that were spent since the tree last changed.
    tokens: u64,
    /// How each check last failed, and how often in a row, the newest last.
    checks: VecDeque<(String, Fingerprint, u32)>,
    /// The time of the last event, or of the last sign of a living child.
    heard: Duration,
}

impl Observer {
    /// An observer of a run that begins now.
    pub fn new(patience: Patience, now: Duration) -> Self {
        Self {
            patience,
            actions: VecDeque::new(),
            tree: None,
            tokens: 0,
            checks: VecDeque::new(),
            heard: now,
        }
    }

    /// Takes an observation, and says if the run is stuck now.
    pub fn observe(&mut self, observation: Observation, now: Duration) -> Option<Signal> {
        let is_sign_of_life = !matches!(observation, Observation::Beat);
        let signal = match observation {
            Observation::Action(action) => self.acted(action),
            Observation::Spent(tokens) => self.spent(tokens),
            Observation::Tree(tree) => {
                // The first look only says where the run starts.
                if self.tree.replace(tree).is_some_and(|before| before != tree) {
                    self.tokens = 0;
                }
                None
            }
            Observation::Check { command, failure } => self.checked(command, failure),
            Observation::Beat => {
                let silent = now.saturating_sub(self.heard);
                let is_stuck = silent >= self.patience.silence;
                is_stuck.then_some(Signal::Silent { seconds: silent.as_secs() })
            }
            Observation::Event | Observation::ChildAlive | Observation::Waiting => None,
        };
        if is_sign_of_life {
            self.heard = self.heard.max(now);
        }
        signal
    }

    fn acted(&mut self, action: Action) -> Option<Signal> {
        if self.actions.len() >= OBSERVED {
            self.actions.pop_front();
        }
        self.actions.push_back(action);
        self.same_action().or_else(|| self.errors()).or_else(|| self.back_and_forth())
    }

    /// Actions from the newest on that fulfil a condition.
    fn newest(&self, holds: impl Fn(usize, &Action) -> bool) -> u32 {
        let count = self.actions.iter().rev().enumerate().take_while(|(at, it)| holds(*at, it)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn same_action(&self) -> Option<Signal> {
        let last = self.actions.back()?;
        let times = self.newest(|_, action| action == last);
        (times >= SAME_ACTIONS).then(|| Signal::SameAction { tool: last.tool.clone(), times })
    }

    fn errors(&self) -> Option<Signal> {
        let last = self.actions.back()?;
        let times = self.newest(|_, action| action.is_error && action.tool == last.tool);
        (times >= ERRORS_IN_A_ROW).then(|| Signal::ErrorsInARow { tool: last.tool.clone(), times })
    }

    fn back_and_forth(&self) -> Option<Signal> {
        let mut newest = self.actions.iter().rev();
        let (last, before) = (newest.next()?, newest.next()?);
        if last == before {
            return None;
        }
        let times = self.newest(|at, action| action == if at % 2 == 0 { last } else { before }) / 2;
        let tools = [before.tool.clone(), last.tool.clone()];
        (times >= BACK_AND_FORTH).then_some(Signal::BackAndForth { tools, times })
    }

    fn spent(&mut self, tokens: u64) -> Option<Signal> {
        self.tokens = self.tokens.saturating_add(tokens);
        let is_stuck = self.patience.tokens.is_some_and(|most| self.tokens >= most);
        is_stuck.then_some(Signal::NoProgress { tokens: self.tokens })
    }

    fn checked(&mut self, command: String, failure: Option<Fingerprint>) -> Option<Signal> {
        let place = self.checks.iter().position(|(of, _, _)| *of == command);
        let before = place.and_then(|place| self.checks.remove(place));
        let failure = failure?;
        let times =
            before.filter(|(_, it, _)| *it == failure).map_or(1, |(_, _, times)| times.saturating_add(1));
        if self.checks.len() >= OBSERVED {
            self.checks.pop_front();
        }
        self.checks.push_back((command.clone(), failure, times));
        (times >= SAME_CHECKS).then_some(Signal::SameCheckFails { command, times })
    }
}

#[cfg(test)]
mod tests;
