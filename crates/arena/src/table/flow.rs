//! The loop: events in the order of the queue, then the game's next wish.

use super::Table;
use crate::{Ending, Next, Outcome, limits};

impl Table {
    /// Goes on until somebody is asked, the game waits, or it is over.
    pub(super) fn run(&mut self) {
        while self.ending.is_none() && self.batch.is_none() {
            if self.is_over_limit() {
                self.end(Ending::new(Outcome::Limit, "The game has reached its limit."));
            } else if let Some((_, sid)) = self.queue.pop_first() {
                self.handle(sid);
            } else if let Some(next) = self.wanted.take() {
                if !self.grant(next) {
                    return;
                }
            } else if self.is_waiting {
                return;
            } else {
                let next = self.with_game(|game, desk| game.next(desk));
                self.wanted = Some(next);
            }
        }
    }

    /// Does what the game wants. False if it waits.
    fn grant(&mut self, next: Next) -> bool {
        self.idle += 1;
        match next {
            Next::Ask(requests) => {
                if requests.is_empty() {
                    return true;
                }
                self.idle = 0;
                self.open_turns(requests);
            }
            Next::Again => {}
            Next::Wait => {
                self.idle = 0;
                self.is_waiting = true;
                return false;
            }
            Next::End(ending) => self.end(ending),
        }
        true
    }

    fn is_over_limit(&self) -> bool {
        let limits = &self.setup.limits;
        let events = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        events > limits.events || self.spoken_tokens > limits.spoken_tokens || self.idle > limits::IDLE_TURNS
    }
}
