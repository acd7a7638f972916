//! Tickets that are added on the way, and the mistakes that they may have.

use std::collections::HashSet;
use std::fmt;

use super::{Conduct, Progress};
use crate::limits::{FILES, SPLIT, TICKETS, TITLE_CHARS};
use crate::{
    DraftTicket, Entry, Event, Next, Origin, PlanApproval, Refusal, StepKey, StepKind, Ticket, TicketId,
};

/// Conflicts of one ticket that get a resolver. The next one is for a person.
const RESOLVERS: u32 = 2;

/// One mistake in a set of tickets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    #[error("two tickets have the id {ticket:?}; upper and lower case count as the same")]
    DuplicateId { ticket: TicketId },
    #[error("the ticket {ticket:?} depends on {dependency:?}, which the track does not have")]
    UnknownDependency { ticket: TicketId, dependency: TicketId },
    /// Tickets that wait for each other, the first one again at the end.
    #[error("tickets wait for each other: {}", Arrows(tickets))]
    Cycle { tickets: Vec<TicketId> },
}

/// Ids as `a → b → a`.
struct Arrows<'a>(&'a [TicketId]);

impl fmt::Display for Arrows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, id) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(" → ")?;
            }
            fmt::Display::fmt(id, f)?;
        }
        Ok(())
    }
}

/// The first cycle of dependencies among tickets, the first one again at its end: `[a, b, a]`. Each ticket
/// depends on the one behind it.
pub fn cycle(tickets: &[Ticket]) -> Option<Vec<TicketId>> {
    let places: std::collections::HashMap<&TicketId, usize> =
        tickets.iter().enumerate().map(|(at, ticket)| (&ticket.id, at)).collect();
    let below = |at: usize| tickets[at].depends_on.iter().filter_map(|id| places.get(id).copied()).collect();
    let found = find_cycle(tickets.len(), 0..tickets.len(), below)?;
    Some(found.into_iter().map(|at| tickets[at].id.clone()).collect())
}

/// The first cycle that can be reached from the roots, depth first and without recursion.
fn find_cycle(
    nodes: usize,
    roots: impl Iterator<Item = usize>,
    below: impl Fn(usize) -> Vec<usize>,
) -> Option<Vec<usize>> {
    let mut is_done = vec![false; nodes];
    let mut is_on_path = vec![false; nodes];
    for root in roots {
        // The path from the root, each node with those below it that are left to look at.
        let mut path: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(at) = next.take()
                && !is_done[at]
            {
                if is_on_path[at] {
                    let from = path.iter().position(|(on, _)| *on == at).unwrap_or_default();
                    return Some(path[from..].iter().map(|(on, _)| *on).chain([at]).collect());
                }
                is_on_path[at] = true;
                path.push((at, below(at).into_iter()));
            }
            let Some((at, left)) = path.last_mut() else { break };
            next = left.next();
            if next.is_none() {
                is_done[*at] = true;
                is_on_path[*at] = false;
                path.pop();
            }
        }
    }
    None
}

impl Conduct {
    /// Fails if the track as it was written cannot be worked to its end.
    pub(super) fn check_track(&self) -> Result<(), Refusal> {
        let tickets = &self.track.tickets;
        let known: HashSet<&TicketId> = tickets.iter().map(|ticket| &ticket.id).collect();
        let mut mistakes = mistakes(tickets, &HashSet::new(), |id| known.contains(id));
        mistakes.extend(cycle(tickets).map(|tickets| Mistake::Cycle { tickets }));
        if mistakes.is_empty() { Ok(()) } else { Err(Refusal::BadTickets { mistakes }) }
    }

    /// Fails if tickets cannot be added. `parent` is the ticket that will wait for them.
    fn check_new(&self, tickets: &[Ticket], parent: Option<&TicketId>) -> Result<(), Refusal> {
        let got = self.tickets.len() + tickets.len();
        if got > TICKETS {
            return Err(Refusal::TooMuch { what: "the track", unit: "tickets", got, most: TICKETS });
        }
        let new: HashSet<&TicketId> = tickets.iter().map(|ticket| &ticket.id).collect();
        let is_known = |id: &TicketId| new.contains(id) || self.index.contains_key(id);
        let mut mistakes = mistakes(tickets, &self.folded, is_known);
        if mistakes.is_empty() {
            mistakes.extend(self.cycle_with(tickets, parent).map(|tickets| Mistake::Cycle { tickets }));
        }
        if mistakes.is_empty() { Ok(()) } else { Err(Refusal::BadTickets { mistakes }) }
    }

    /// A cycle that adding the tickets makes. The parent will wait for each of them.
    fn cycle_with(&self, tickets: &[Ticket], parent: Option<&TicketId>) -> Option<Vec<TicketId>> {
        let first = self.tickets.len();
        let parent = parent.and_then(|id| self.index.get(id)).copied();
        let added = first..first + tickets.len();
        let place = |id: &TicketId| {
            let new = || tickets.iter().position(|ticket| ticket.id == *id).map(|at| first + at);
            self.index.get(id).copied().or_else(new)
        };
        let below = |at: usize| -> Vec<usize> {
            if at >= first {
                return tickets[at - first].depends_on.iter().filter_map(place).collect();
            }
            let Progress { ticket, awaits, .. } = &self.tickets[at];
            let own = ticket.depends_on.iter().chain(awaits).filter_map(place);
            own.chain(added.clone().filter(|_| parent == Some(at))).collect()
        };
        let found = find_cycle(added.end, added.clone(), below)?;
        let id = |at: usize| match at.checked_sub(first) {
            Some(new) => tickets[new].id.clone(),
            None => self.tickets[at].id().clone(),
        };
        Some(found.into_iter().map(id).collect())
    }

    pub(super) fn add_tickets(&self, tickets: &[Ticket], by: &str) -> Result<Vec<Event>, Refusal> {
        self.check_not_cancelled()?;
        self.check_new(tickets, None)?;
        let origin = Origin::Person { by: by.to_owned() };
        Ok(vec![Event::TicketsAdded { origin, entry: Entry::Planned, tickets: tickets.to_vec() }])
    }

    /// The parts into which tier 2 broke a ticket. A person approves them, unless nothing needs approval.
    pub(super) fn split(&self, ticket: &TicketId, parts: &[Ticket]) -> Result<Vec<Event>, Refusal> {
        let (_, progress) = self.find(ticket)?;
        if !(progress.is_splitting() && progress.begun && !progress.parked && progress.stage().is_some()) {
            let number = progress.split.as_ref().map_or(0, |split| split.tries);
            let step = StepKey { ticket: Some(ticket.clone()), kind: StepKind::Split, number };
            return Err(Refusal::Stale { step: step.to_string() });
        }
        let got = parts.len();
        if got == 0 {
            return Err(Refusal::Incomplete { what: "at least one part" });
        }
        if got > SPLIT {
            return Err(Refusal::TooMuch { what: "the split", unit: "parts", got, most: SPLIT });
        }
        self.check_new(parts, Some(ticket))?;
        let mut parts = parts.to_vec();
        for part in &mut parts {
            // A part may change no more than the whole.
            if part.scope.is_empty() {
                part.scope.clone_from(&progress.ticket.scope);
            }
        }
        let is_free = self.opened.is_some_and(|opened| opened.plan == PlanApproval::Skipped);
        let entry = if is_free { Entry::Planned } else { Entry::AwaitingApproval };
        let next = Next::Await { tickets: parts.iter().map(|part| part.id.clone()).collect() };
        let added =
            Event::TicketsAdded { origin: Origin::Split { of: ticket.clone() }, entry, tickets: parts };
        let mut events = vec![added];
        events.extend(self.go_on(progress, (next, progress.evidence.clone())));
        Ok(events)
    }

    /// Drafts of the work that a worker found and did not do. Those that it reported before are there.
    pub(super) fn found(&self, by: &TicketId, found: &[DraftTicket]) -> Option<Event> {
        let ids = (1..=TICKETS).map(|number| by.with_suffix(&format!("-found-{number}")));
        let (mut titles, mut free) = (HashSet::new(), Vec::new());
        for id in ids {
            match self.ticket(&id) {
                Some(before) => drop(titles.insert(before.ticket.title.clone())),
                None if free.len() == found.len() => break,
                None if !self.has_id(&id) => free.push(id),
                None => {}
            }
        }
        let mut tickets: Vec<Ticket> = Vec::new();
        let room = TICKETS.saturating_sub(self.tickets.len());
        for DraftTicket { title, description } in found {
            let title: String = title.trim().chars().take(TITLE_CHARS).collect();
            if title.is_empty() || tickets.len() >= room || !titles.insert(title.clone()) {
                continue;
            }
            let Some(id) = free.get(tickets.len()).cloned() else { break };
            tickets.push(Ticket { description: description.clone(), ..Ticket::new(id, title) });
        }
        let origin = Origin::Found { by: by.clone() };
        (!tickets.is_empty()).then_some(Event::TicketsAdded { origin, entry: Entry::Draft, tickets })
    }

    /// The ticket that resolves a conflict of this one. None if a person has to: a resolver conflicts
    /// again, or too many were tried.
    pub(super) fn resolver(
        &self,
        progress: &Progress,
        paths: &[String],
        with: &[TicketId],
    ) -> Option<Ticket> {
        let Ticket { id, title, description, .. } = &progress.ticket;
        let number = (1..).find(|number| !self.has_id(&resolver_id(id, *number)))?;
        let is_resolver = matches!(progress.origin, Origin::Resolver { .. });
        if is_resolver || number > RESOLVERS || self.tickets.len() >= TICKETS {
            return None;
        }
        let title: String =
            format!("Resolve the conflict of {id}: {title}").chars().take(TITLE_CHARS).collect();
        let mut scopes = vec![self.scope_of(&progress.ticket)];
        scopes.extend(with.iter().filter_map(|id| self.ticket(id)).map(|it| self.scope_of(&it.ticket)));
        // A side that may change every path leaves the resolver free as well.
        let is_free = scopes.iter().any(|scope| scope.is_empty());
        let mut scope: Vec<String> = if is_free { Vec::new() } else { scopes.concat() };
        scope.sort();
        scope.dedup();
        Some(Ticket {
            id: resolver_id(id, number),
            title,
            description: description.clone(),
            depends_on: Vec::new(),
            files: paths.iter().take(FILES).cloned().collect(),
            scope,
            ..progress.ticket.clone()
        })
    }

    fn has_id(&self, id: &TicketId) -> bool {
        self.folded.contains(&id.as_str().to_ascii_lowercase())
    }
}

fn resolver_id(of: &TicketId, number: u32) -> TicketId {
    match number {
        1 => of.with_suffix("-resolve"),
        number => of.with_suffix(&format!("-resolve-{number}")),
    }
}

/// Ids that are taken, and dependencies that do not exist.
fn mistakes(
    tickets: &[Ticket],
    taken: &HashSet<String>,
    is_known: impl Fn(&TicketId) -> bool,
) -> Vec<Mistake> {
    let mut seen = HashSet::new();
    let mut mistakes = Vec::new();
    for ticket in tickets {
        let folded = ticket.id.as_str().to_ascii_lowercase();
        if taken.contains(&folded) || !seen.insert(folded) {
            mistakes.push(Mistake::DuplicateId { ticket: ticket.id.clone() });
        }
        for dependency in ticket.depends_on.iter().filter(|id| !is_known(id)) {
            let (ticket, dependency) = (ticket.id.clone(), dependency.clone());
            mistakes.push(Mistake::UnknownDependency { ticket, dependency });
        }
    }
    mistakes
}
