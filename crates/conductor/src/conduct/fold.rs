//! Events, folded into the state.
//!
//! An event about an unknown ticket changes nothing. Nothing here decides: what follows from an outcome
//! is an event of its own.

use chrono::{DateTime, Utc};

use super::{Conduct, Ending, Opened, Order, Progress, Turn};
use crate::{CapAccount, Entry, Event, Evidence, Need, Next, Origin, State, TicketId};

impl Conduct {
    pub(super) fn fold(&mut self, event: &Event, at: DateTime<Utc>) {
        if !Self::is_of_this_version(event) {
            self.newer = true;
        }
        match event {
            Event::Opened { isolation, plan, concurrency, .. } => {
                self.began_at = Some(at);
                self.open(Opened { isolation: *isolation, plan: *plan, concurrency: *concurrency });
            }
            Event::Approved { tickets, .. } => tickets.iter().for_each(|id| self.approve(id, at)),
            Event::Paused { cause } => self.paused = Some(cause.clone()),
            Event::Resumed { .. } => {
                self.paused = None;
                self.failed_in_a_row.clear();
            }
            Event::TrackCancelled { .. } => {
                self.ending = Some(Ending::Cancelled);
                for place in 0..self.tickets.len() {
                    if !self.tickets[place].state.is_final() {
                        self.change(place, |it| it.end(State::Cancelled, at));
                        self.tickets[place].orders.extend(Order::of(event, at));
                    }
                }
            }
            Event::Finished => {
                self.ending = Some(Ending::Finished);
                self.finishes += 1;
                // Nothing is left that a pause could hold back, and a retry begins anew.
                self.paused = None;
                self.failed_in_a_row.clear();
            }
            Event::TicketsAdded { origin, entry, tickets } => self.add_from(origin, *entry, tickets),
            Event::CapWarned { account, unit } => self.warned.push((account.clone(), *unit)),
            Event::CapRaised { account, cap, .. } => self.raise_cap(account, *cap, at),
            Event::Unknown(_) => {}
            event => {
                if let Some(place) = event.ticket().and_then(|id| self.index.get(id)).copied() {
                    self.tickets[place].last_at = Some(at);
                    self.fold_ticket(place, event, at);
                }
            }
        }
    }

    fn open(&mut self, opened: Opened) {
        self.opened = Some(opened);
        if opened.plan != crate::PlanApproval::Drafted {
            return;
        }
        for place in 0..self.tickets.len() {
            if self.tickets[place].origin == Origin::Track {
                self.change(place, |it| {
                    it.state = State::AwaitingApproval;
                    it.need = Some(Need::Plan);
                });
            }
        }
    }

    fn approve(&mut self, id: &TicketId, at: DateTime<Utc>) {
        let Some(place) = self.index.get(id).copied() else { return };
        self.ending = self.ending.filter(|ending| *ending == Ending::Cancelled);
        self.change(place, |it| {
            it.last_at = Some(at);
            it.need = None;
            it.rest();
        });
    }

    fn add_from(&mut self, origin: &Origin, entry: Entry, tickets: &[crate::Ticket]) {
        let state = match entry {
            Entry::Draft => State::Draft,
            Entry::AwaitingApproval => State::AwaitingApproval,
            Entry::Planned => State::Blocked,
        };
        if entry != Entry::Draft {
            self.ending = self.ending.filter(|ending| *ending == Ending::Cancelled);
        }
        let splits = match origin {
            Origin::Split { of } | Origin::Resolver { of, .. } => {
                let above = self.ticket(of).map_or(0, |parent| parent.climb.splits);
                above + u32::from(matches!(origin, Origin::Split { .. }))
            }
            _ => 0,
        };
        let first = self.tickets.len();
        self.add(tickets.to_vec(), origin, state, splits);
        if state != State::Blocked {
            self.tickets[first..].iter_mut().for_each(|it| it.need = Some(Need::Plan));
        }
    }

    fn raise_cap(&mut self, account: &CapAccount, cap: crate::Cap, at: DateTime<Utc>) {
        match account {
            CapAccount::Ticket { ticket } => drop(self.caps.tickets.insert(ticket.clone(), cap)),
            CapAccount::Track => self.caps.track = cap,
            CapAccount::Day => self.caps.day = cap,
        }
        let concerns = |need: &Need| match need {
            Need::Cap { account: reached, .. } => account.covers(reached),
            // Without a cap in money, a model needs no price.
            Need::Price { .. } => cap.cost.is_none(),
            _ => false,
        };
        let waiting = |it: &Progress| it.need.as_ref().is_some_and(concerns);
        self.warned.retain(|(warned, _)| !account.covers(warned));
        for place in 0..self.tickets.len() {
            if waiting(&self.tickets[place]) {
                self.change(place, |it| {
                    it.last_at = Some(at);
                    it.resume();
                });
            }
        }
    }

    fn fold_ticket(&mut self, place: usize, event: &Event, at: DateTime<Utc>) {
        self.tickets[place].orders.extend(Order::of(event, at));
        match event {
            Event::Decided { next, evidence, .. } => {
                self.turn(place, next, at);
                let progress = &mut self.tickets[place];
                progress.evidence.clone_from(evidence);
                progress.turns.push(Turn { at, next: next.clone(), evidence: evidence.clone() });
            }
            Event::Merged { commit, via, .. } => {
                self.failed_in_a_row.clear();
                self.change(place, |it| {
                    it.merged.clone_from(commit);
                    it.via.clone_from(via);
                    it.end(State::Merged, at);
                });
            }
            Event::Cancelled { .. } => self.change(place, |it| it.end(State::Cancelled, at)),
            Event::Retried { by, model, persona, note, .. } => {
                self.ending = self.ending.filter(|ending| *ending == Ending::Cancelled);
                self.forget_awaited(place);
                let is_recast = model.is_some() || persona.is_some();
                self.change(place, |it| {
                    it.chosen_model = model.clone().or(it.chosen_model.take());
                    it.chosen_persona = persona.clone().or(it.chosen_persona.take());
                    it.retry(is_recast);
                    it.evidence.push(Evidence::Person { by: by.clone(), note: note.clone() });
                });
            }
            event => self.change(place, |it| {
                it.begin(event, at);
                it.record(event, at);
            }),
        }
    }

    /// Follows a decision of the machine.
    fn turn(&mut self, place: usize, next: &Next, at: DateTime<Utc>) {
        let seq = self.seq;
        match next {
            Next::Await { tickets } => {
                self.change(place, Progress::begin_to_wait);
                self.await_tickets(place, tickets);
            }
            Next::Queue => self.change(place, |it| {
                it.queued_at = seq;
                it.enter(State::Queued);
            }),
            Next::NoChange => {
                self.failed_in_a_row.clear();
                self.change(place, |it| it.end(State::NoChange, at));
            }
            Next::Fail => {
                let id = self.tickets[place].id().clone();
                if !self.failed_in_a_row.contains(&id) {
                    self.failed_in_a_row.push(id);
                }
                self.change(place, |it| {
                    it.end(State::Failed, at);
                    it.need = Some(Need::Decision);
                });
            }
            next => self.change(place, |it| it.follow(next)),
        }
    }
}
