//! Dependencies: counts that follow each change, to a fixpoint.

use super::{Conduct, Progress};
use crate::{Origin, State, Ticket, TicketId};

/// A change of one dependency, on its way to a ticket that depends on it.
struct Ripple {
    to: usize,
    unmet: i32,
    dead: i32,
}

impl Conduct {
    /// Adds tickets. Dependencies may point to each other and to those that are there.
    pub(super) fn add(&mut self, tickets: Vec<Ticket>, origin: &Origin, state: State, splits: u32) {
        let first = self.tickets.len();
        for ticket in tickets {
            if self.index.contains_key(&ticket.id) {
                continue;
            }
            let at = self.tickets.len();
            self.folded.insert(ticket.id.as_str().to_ascii_lowercase());
            self.index.insert(ticket.id.clone(), at);
            self.tickets.push(Progress::new(ticket, origin.clone(), state, splits));
            self.dependents.push(Vec::new());
        }
        let added = first..self.tickets.len();
        for at in added.clone() {
            self.tickets[at].ticket.depends_on.clone().iter().for_each(|id| {
                if let Some(to) = self.index.get(id) {
                    self.dependents[*to].push(at);
                }
            });
        }
        let order = self.order(&added);
        // Tickets on a cycle, and behind one, wait for each other: that counts as an unknown dependency.
        let mut behind_cycle = vec![true; added.len()];
        order.iter().for_each(|at| behind_cycle[at - first] = false);
        for at in order.iter().copied().chain(added.clone().filter(|at| behind_cycle[at - first])) {
            self.count(at);
            self.tickets[at].unmet += u32::from(behind_cycle[at - first]);
            self.tickets[at].dead += u32::from(behind_cycle[at - first]);
            if state == State::Blocked {
                self.tickets[at].rest();
            }
        }
        for at in order.into_iter().rev() {
            let above = self.dependents[at].iter().map(|to| self.tickets[*to].height.saturating_add(1));
            self.tickets[at].height = above.max().unwrap_or(0);
        }
        let isolation = self.is_isolated_in();
        for at in added.clone() {
            self.agenda.insert(at, &self.tickets[at], isolation);
        }
        for at in added {
            self.raise_dependencies(at);
        }
    }

    /// Counts the dependencies of an added ticket. Those that were added with it were counted before.
    fn count(&mut self, at: usize) {
        for id in self.tickets[at].ticket.depends_on.clone() {
            let (met, dead) = self.standing(&id);
            self.tickets[at].unmet += u32::from(!met);
            self.tickets[at].dead += u32::from(dead);
        }
    }

    /// True if a dependency on the ticket is met, and if it never will be by itself.
    fn standing(&self, id: &TicketId) -> (bool, bool) {
        let progress = self.ticket(id);
        // An unknown dependency is never met.
        progress.map_or((false, true), |progress| (progress.state.is_met(), is_dead(progress)))
    }

    /// Added tickets, each after those that it depends on, without those on a cycle or behind one.
    fn order(&self, added: &std::ops::Range<usize>) -> Vec<usize> {
        let first = added.start;
        let mut open: Vec<usize> = vec![0; added.len()];
        for at in added.clone() {
            self.dependents[at].iter().filter(|to| **to >= first).for_each(|to| open[to - first] += 1);
        }
        let mut order: Vec<usize> = added.clone().filter(|at| open[at - first] == 0).collect();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for to in self.dependents[at].iter().filter(|to| **to >= first) {
                open[to - first] -= 1;
                if open[to - first] == 0 {
                    order.push(*to);
                }
            }
        }
        order
    }

    /// Raises what a ticket depends on above it.
    fn raise_dependencies(&mut self, at: usize) {
        let most = u32::try_from(self.tickets.len()).unwrap_or(u32::MAX);
        let isolation = self.is_isolated_in();
        let mut low = vec![at];
        while let Some(at) = low.pop() {
            let height = self.tickets[at].height.saturating_add(1);
            let Progress { ticket, awaits, .. } = &self.tickets[at];
            let below: Vec<usize> =
                ticket.depends_on.iter().chain(awaits).filter_map(|id| self.index.get(id).copied()).collect();
            for to in below {
                // The bound ends the climb on a cycle.
                if self.tickets[to].height < height && height <= most {
                    self.agenda.remove(to, &self.tickets[to], isolation);
                    self.tickets[to].height = height;
                    self.agenda.insert(to, &self.tickets[to], isolation);
                    low.push(to);
                }
            }
        }
    }

    /// Makes a ticket wait for others.
    pub(super) fn await_tickets(&mut self, at: usize, tickets: &[TicketId]) {
        let (mut unmet, mut dead) = (0, 0);
        for id in tickets {
            let (is_met, is_dead) = self.standing(id);
            unmet += u32::from(!is_met);
            dead += u32::from(is_dead);
            if let Some(to) = self.index.get(id) {
                self.dependents[*to].push(at);
            }
        }
        self.change(at, |progress| {
            progress.awaits = tickets.to_vec();
            progress.unmet += unmet;
            progress.dead += dead;
            progress.rest();
        });
        self.raise_dependencies(at);
    }

    /// Lets a ticket wait for its parts no longer.
    pub(super) fn forget_awaited(&mut self, at: usize) {
        let awaits = std::mem::take(&mut self.tickets[at].awaits);
        for id in awaits {
            let Some(to) = self.index.get(&id).copied() else { continue };
            if let Some(place) = self.dependents[to].iter().position(|it| *it == at) {
                self.dependents[to].remove(place);
                let (met, dead) = (self.tickets[to].state.is_met(), is_dead(&self.tickets[to]));
                self.change(at, |progress| {
                    progress.unmet = progress.unmet.saturating_sub(u32::from(!met));
                    progress.dead = progress.dead.saturating_sub(u32::from(dead));
                });
            }
        }
    }

    /// Changes a ticket, and then every ticket that this affects.
    pub(super) fn change(&mut self, at: usize, edit: impl FnOnce(&mut Progress)) {
        let mut ripples = Vec::new();
        self.touch(at, edit, &mut ripples);
        while let Some(Ripple { to, unmet, dead }) = ripples.pop() {
            let receive = |progress: &mut Progress| {
                progress.unmet = progress.unmet.saturating_add_signed(unmet);
                progress.dead = progress.dead.saturating_add_signed(dead);
                if progress.is_resting() {
                    progress.rest();
                }
            };
            self.touch(to, receive, &mut ripples);
        }
    }

    fn touch(&mut self, at: usize, edit: impl FnOnce(&mut Progress), ripples: &mut Vec<Ripple>) {
        let isolation = self.is_isolated_in();
        let progress = &mut self.tickets[at];
        let before = (progress.state.is_met(), is_dead(progress));
        self.agenda.remove(at, progress, isolation);
        edit(progress);
        self.agenda.insert(at, progress, isolation);
        let after = (progress.state.is_met(), is_dead(progress));
        if before == after {
            return;
        }
        let unmet = i32::from(before.0) - i32::from(after.0);
        let dead = i32::from(after.1) - i32::from(before.1);
        ripples.extend(self.dependents[at].iter().map(|to| Ripple { to: *to, unmet, dead }));
    }
}

/// True if what depends on the ticket cannot go on unless a person acts.
fn is_dead(progress: &Progress) -> bool {
    matches!(progress.state, State::Failed | State::Cancelled) || progress.is_stalled()
}
