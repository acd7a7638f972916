//! The way of one ticket: what each decision of the machine, or of a person, makes of it.

use chrono::{DateTime, Utc};

use super::Progress;
use super::progress::{ReviewPlan, SplitPlan, Work};
use crate::{ApprovalReason, Need, Next, State};

impl Progress {
    /// Enters a state in which no step was started yet. A ticket that held no place among those that are
    /// worked waits for one.
    pub(super) fn enter(&mut self, state: State) {
        let has_place = self.state.is_worked() && !self.parked;
        self.parked = state.is_worked() && !has_place;
        self.state = state;
        self.begun = false;
        self.not_before = None;
        self.need = None;
    }

    pub(super) fn end(&mut self, state: State, at: DateTime<Utc>) {
        // Git may have moved the target already when a person cancels: the outcome still counts.
        let may_land = state == State::Cancelled && self.state == State::Integrating;
        self.held = may_land.then_some(State::Integrating);
        self.enter(state);
        self.split = None;
        self.ended_at = Some(at);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.ended_at.get_or_insert(at);
        }
    }

    /// Follows a decision that concerns this ticket alone.
    pub(super) fn follow(&mut self, next: &Next) {
        match next {
            Next::Again { not_before } => {
                let state = match self.state {
                    State::Checking => State::Submitted,
                    State::Integrating => State::Queued,
                    state => state,
                };
                self.enter(state);
                self.not_before = *not_before;
                self.climb.faults += 1;
            }
            Next::Work { rung, fresh, onto_target, not_before } => {
                self.climb_to(*rung, not_before.is_some());
                // An attempt that failed on its way may not have come to it.
                let is_left = not_before.is_some() && self.is_to_move();
                let onto_target = *onto_target || is_left;
                self.work = Some(Work { rung: *rung, fresh: *fresh, onto_target });
                (self.review, self.split) = (None, None);
                let is_from_result = !matches!(self.state, State::Working | State::Rework);
                self.enter(if is_from_result { State::Rework } else { State::Working });
                self.not_before = *not_before;
            }
            Next::Review { .. } => {
                self.review = Some(ReviewPlan { rung: 0, models: 0, session: None });
                self.climb.rounds += 1;
                self.climb.faults = 0;
                self.enter(State::Reviewing);
            }
            Next::ReviewBy { rung } => {
                if let Some(review) = &mut self.review {
                    *review = ReviewPlan { rung: *rung, models: review.models, session: None };
                }
                self.climb.faults = 0;
                self.enter(State::Reviewing);
            }
            Next::Split => {
                self.review = None;
                self.split = Some(SplitPlan::default());
                self.enter(State::Working);
            }
            Next::AskPerson { need } => {
                let before = self.state;
                let is_of_setup =
                    matches!(need, Need::Setup { .. } | Need::Baseline { .. }) && !self.prepared;
                self.enter(if is_of_setup { State::Blocked } else { State::NeedsInput });
                self.need = Some(need.clone());
                self.held = Some(before);
            }
            Next::Queue | Next::NoChange | Next::Await { .. } | Next::Fail => {}
        }
    }

    /// Waits for other tickets. Once they are merged, it goes on upon the target's head: with a closing
    /// attempt after its parts, with the same worker after a conflict that needed no resolution.
    pub(super) fn begin_to_wait(&mut self) {
        let is_split = self.split.take().is_some();
        if is_split {
            self.climb.restart();
            self.climb.splits += 1;
        }
        self.review = None;
        self.work = Some(Work { rung: self.climb.rung, fresh: is_split, onto_target: true });
        self.enter(State::Blocked);
    }

    /// True if the last attempt began by moving onto the target's head.
    fn is_to_move(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.onto_target)
    }

    fn climb_to(&mut self, rung: u32, is_after_fault: bool) {
        let is_next = rung != self.climb.rung;
        self.climb.take_rung(rung);
        if is_next {
            return;
        }
        let is_reminder =
            matches!(self.attempt().and_then(|it| it.fault.as_ref()), Some(crate::Fault::NoSubmission));
        if is_after_fault {
            self.climb.faults += 1;
        } else if self.state == State::Working && is_reminder {
            self.climb.reminders += 1;
        } else if self.state != State::Reviewing {
            self.climb.setbacks += 1;
        }
    }

    /// Goes on where a person was asked.
    pub(super) fn resume(&mut self) {
        let held = self.held.take();
        self.need = None;
        self.begun = false;
        self.climb.faults = 0;
        match held {
            Some(State::Queued | State::Integrating) => self.state = State::Queued,
            Some(State::Submitted | State::Checking) => {
                self.state = State::Submitted;
                self.parked = true;
            }
            Some(State::Reviewing) if self.review.is_some() => {
                self.state = State::Reviewing;
                self.parked = true;
            }
            Some(State::Working | State::Rework) if self.prepared => {
                let rung = self.climb.rung;
                if self.split.is_none() {
                    let fresh = self.attempts.is_empty();
                    self.work = Some(Work { rung, fresh, onto_target: self.is_to_move() });
                }
                self.state = State::Working;
                self.parked = true;
            }
            _ => self.rest(),
        }
    }

    /// Begins again after a person's retry.
    pub(super) fn retry(&mut self, is_recast: bool) {
        let goes_on = match self.need {
            Some(Need::Setup { .. } | Need::Cap { .. } | Need::Price { .. }) => self.prepared,
            Some(Need::Approval { why: ApprovalReason::NoReview }) => true,
            _ => false,
        };
        self.ended_at = None;
        self.granted = None;
        if goes_on && !is_recast && self.held.is_some() {
            if let Some(review) = &mut self.review {
                (review.rung, review.session) = (0, None);
            }
            return self.resume();
        }
        // The worktree of a cancelled ticket was given up.
        self.prepared &= self.state != State::Cancelled;
        self.climb.restart();
        self.need = None;
        self.held = None;
        self.review = None;
        self.split = None;
        self.work = self.prepared.then_some(Work { rung: 0, fresh: true, onto_target: true });
        self.rest();
    }
}
