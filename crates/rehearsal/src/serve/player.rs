//! Plays a score: sends its steps when they are due.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use tokio::time::{Instant, Sleep};

use crate::limits;
use crate::score::Score;
use crate::script::Pace;

/// Counts open and abandoned streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    open: AtomicUsize,
    abandoned: AtomicUsize,
}

impl Streams {
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn abandoned(&self) -> usize {
        self.abandoned.load(Ordering::Relaxed)
    }
}

/// Bytes up to `end` are sent once `due` has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) due: Duration,
    pub(crate) end: usize,
}

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Regular.
    Whole,
    /// Cut off with its connection, before the announced end.
    Cut,
}

/// The schedule of a score: the opening at once, then token by token; nothing beyond `limit`. Steps
/// that are due together are one.
pub(super) fn steps(score: &Score, pace: Pace, stall: Option<(usize, Duration)>, limit: usize) -> Vec<Step> {
    let tokens = score.tokens();
    let paced = !pace.token.is_zero();
    let mut steps: Vec<Step> = Vec::with_capacity(if paced { tokens + 2 } else { 4 });
    let mut add = |due: Duration, end: usize| {
        let end = end.min(limit);
        match steps.last_mut() {
            Some(last) if last.due == due => last.end = end,
            Some(last) if last.end == end => {}
            _ => steps.push(Step { due, end }),
        }
    };
    add(Duration::ZERO, score.start_of(0));
    // The events that end the answer come with the last token, unless it stalls before them.
    for token in 0..=tokens {
        let number = u32::try_from(token.min(tokens.saturating_sub(1))).unwrap_or(u32::MAX);
        let mut due = pace.first_token + pace.token.saturating_mul(number);
        if let Some((_, wait)) = stall.filter(|(after, _)| token >= (*after).min(tokens)) {
            due += wait;
        }
        let end = if token == tokens { score.bytes.len() } else { score.start_of(token + 1) };
        add(due, end);
    }
    steps
}

/// One stream: slices of one buffer, and one timer.
#[derive(Debug)]
pub(crate) struct Player {
    bytes: Bytes,
    sent: usize,
    steps: Vec<Step>,
    next: usize,
    started: Instant,
    /// Created when first needed; set to `waits_for`.
    timer: Option<Pin<Box<Sleep>>>,
    waits_for: Option<Instant>,
    ending: Ending,
    ended: bool,
    streams: Arc<Streams>,
}

impl Player {
    pub(crate) fn new(bytes: Vec<u8>, steps: Vec<Step>, ending: Ending, streams: Arc<Streams>) -> Self {
        streams.open.fetch_add(1, Ordering::Relaxed);
        Self {
            bytes: bytes.into(),
            sent: 0,
            steps,
            next: 0,
            started: Instant::now(),
            timer: None,
            waits_for: None,
            ending,
            ended: false,
            streams,
        }
    }

    fn wait_until(&mut self, due: Instant, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if self.waits_for != Some(due) {
            timer.as_mut().reset(due);
            self.waits_for = Some(due);
        }
        timer.as_mut().poll(context)
    }
}

impl Stream for Player {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(step) = self.steps.get(self.next).copied() {
            let due = self.started + step.due;
            let now = if step.due.is_zero() { self.started } else { Instant::now() };
            if now < due {
                ready!(self.wait_until(due, context));
            }
            // A late player sends everything that is due.
            let passed = now.max(due) - self.started;
            let (mut next, mut end) = (self.next + 1, step.end);
            while let Some(more) = self.steps.get(next).filter(|more| more.due <= passed) {
                (next, end) = (next + 1, more.end);
            }
            let piece = self.bytes.slice(self.sent..end);
            (self.next, self.sent) = (next, end);
            return Poll::Ready(Some(Ok(piece)));
        }
        if self.ended || self.ending == Ending::Whole {
            self.ended = true;
            return Poll::Ready(None);
        }
        // An error discards unflushed bytes, so wait for them first.
        let due = self.waits_for.filter(|_| self.next > self.steps.len());
        let due = due.unwrap_or_else(|| Instant::now() + limits::CUT_LINGER);
        self.next = self.steps.len() + 1;
        ready!(self.wait_until(due, context));
        self.ended = true;
        Poll::Ready(Some(Err(io::Error::other("the script cuts the answer here"))))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.streams.open.fetch_sub(1, Ordering::Relaxed);
        if !self.ended {
            self.streams.abandoned.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An opening, three tokens, an end: two bytes each.
    fn score() -> Score {
        let mut score = Score::default();
        score.raw("op");
        for token in ["t0", "t1", "t2"] {
            score.beat();
            score.raw(token);
        }
        score.close();
        score.raw("en");
        score
    }

    #[track_caller]
    fn check(first: u64, token: u64, stall: Option<(usize, u64)>, limit: usize, expected: &[(u64, usize)]) {
        let [first_token, token] = [first, token].map(Duration::from_millis);
        let stall = stall.map(|(after, wait)| (after, Duration::from_millis(wait)));
        let steps = steps(&score(), Pace { first_token, token }, stall, limit);
        let told: Vec<_> = steps.iter().map(|step| (step.due.as_millis() as u64, step.end)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn steps_that_are_due_together_are_one() {
        check(0, 0, None, 10, &[(0, 10)]);
        check(5, 0, None, 10, &[(0, 2), (5, 10)]);
        check(0, 3, None, 10, &[(0, 4), (3, 6), (6, 10)]);
        check(5, 3, None, 10, &[(0, 2), (5, 4), (8, 6), (11, 10)]);
    }

    #[test]
    fn a_stall_holds_up_all_that_follows() {
        check(0, 0, Some((0, 9)), 10, &[(0, 2), (9, 10)]);
        check(0, 0, Some((2, 9)), 10, &[(0, 6), (9, 10)]);
        check(0, 0, Some((3, 9)), 10, &[(0, 8), (9, 10)]);
        check(0, 0, Some((99, 9)), 10, &[(0, 8), (9, 10)]);
        check(0, 3, Some((1, 9)), 10, &[(0, 4), (12, 6), (15, 10)]);
    }

    #[test]
    fn nothing_is_sent_beyond_the_limit() {
        check(0, 0, None, 5, &[(0, 5)]);
        check(0, 3, None, 5, &[(0, 4), (3, 5)]);
        check(0, 3, None, 1, &[(0, 1)]);
    }
}
