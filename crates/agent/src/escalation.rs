//! Chooses the next model when one fails.

use std::time::Duration;

use chrono::{DateTime, Utc};
use llm::{FailureKind, ModelRef};

/// Retries of the same model after transport faults.
const RETRIES: u32 = 2;
/// Retries of the last model after the pause that it asked for.
const WAITS: u32 = 3;
/// The longest retry-after that is honoured.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
const FIRST_BACKOFF: Duration = Duration::from_millis(400);

/// The reaction to a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAttempt {
    /// The same model again, after [`backoff`] of this many retries.
    Retry(u32),
    /// The next model, at once.
    MoveOn,
    /// The last model again, after the pause that it asked for.
    Wait(Duration),
    GiveUp,
}

/// Walks a list of models from a start to the end, then over those before the start.
#[derive(Debug, Clone)]
pub struct Escalation {
    models: usize,
    start: usize,
    /// The number of models that were given up.
    moved: usize,
    retries: u32,
    waits: u32,
}

impl Escalation {
    /// Begins with the model at `start`.
    pub fn new(models: usize, start: usize) -> Self {
        let models = models.max(1);
        Self { models, start: start.min(models - 1), moved: 0, retries: 0, waits: 0 }
    }

    /// The model to try.
    pub fn current(&self) -> usize {
        (self.start + self.moved) % self.models
    }

    pub fn on_failure(&mut self, kind: FailureKind, retry_after: Option<Duration>) -> NextAttempt {
        if kind.is_transport() && self.retries < RETRIES {
            self.retries += 1;
            return NextAttempt::Retry(self.retries);
        }
        if self.moved + 1 < self.models {
            self.moved += 1;
            self.retries = 0;
            return NextAttempt::MoveOn;
        }
        match (kind, retry_after) {
            (FailureKind::RateLimited | FailureKind::Transport, Some(wait))
                if wait <= LONGEST_WAIT && self.waits < WAITS =>
            {
                self.waits += 1;
                self.retries = 0;
                NextAttempt::Wait(wait)
            }
            _ => NextAttempt::GiveUp,
        }
    }
}

/// The pause before a retry. It doubles each time; `jitter`, from 0 to 1, picks a point between half
/// and all of it, so that clients that failed together do not return together.
pub fn backoff(retry: u32, jitter: f64) -> Duration {
    let whole = FIRST_BACKOFF * 2_u32.saturating_pow(retry.saturating_sub(1)).min(64);
    whole.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

/// The model to begin with: the one that answered last, if that was recently and it was a later
/// choice; else the first.
pub fn cooled_down(
    models: &[ModelRef],
    answered: Option<(&ModelRef, DateTime<Utc>)>,
    now: DateTime<Utc>,
    cooldown: Duration,
) -> usize {
    let Some((model, since)) = answered else { return 0 };
    let is_recent = (now - since).to_std().is_ok_and(|age| age < cooldown);
    models.iter().position(|candidate| candidate == model).filter(|_| is_recent).unwrap_or(0)
}

#[cfg(test)]
mod tests;
