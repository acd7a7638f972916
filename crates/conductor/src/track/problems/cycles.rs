//! Tickets that wait for each other.

use std::collections::HashMap;

use crate::{Ticket, TicketId};

/// Cycles of dependencies, each as a path that ends where it begins. Every ticket is part of one at most,
/// and each group of tickets that wait for each other has one at least. Takes linear time.
pub(super) fn find(tickets: &[Ticket]) -> Vec<Vec<TicketId>> {
    let mut index: HashMap<&str, usize> = HashMap::with_capacity(tickets.len());
    for (at, ticket) in tickets.iter().enumerate() {
        index.entry(ticket.id.as_str()).or_insert(at);
    }
    let below = |at: usize| {
        let ids = tickets[at].depends_on.iter().filter_map(|id| index.get(id.as_str()).copied());
        // A ticket that depends on itself is a problem of its own.
        ids.filter(|to| *to != at).collect::<Vec<usize>>()
    };
    let stuck = stuck(tickets.len(), &below);
    let mut seen = vec![false; tickets.len()];
    let mut cycles = Vec::new();
    for start in (0..tickets.len()).filter(|at| stuck[*at]) {
        let mut walk: Vec<usize> = Vec::new();
        let mut place: HashMap<usize, usize> = HashMap::new();
        let mut at = start;
        // Each stuck ticket depends on one, so a walk ends only on itself or on an earlier one.
        while !seen[at] {
            seen[at] = true;
            place.insert(at, walk.len());
            walk.push(at);
            let next = below(at).into_iter().find(|to| stuck[*to]);
            let Some(next) = next else { break };
            at = next;
        }
        if let Some(from) = place.get(&at) {
            cycles.push(from_first(&walk[*from..]).into_iter().map(|at| tickets[at].id.clone()).collect());
        }
    }
    cycles.retain(|path: &Vec<TicketId>| path.len() > 2);
    cycles
}

/// The tickets that never become ready: those on a cycle, and those behind one.
fn stuck(count: usize, below: &impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
    let mut open: Vec<usize> = Vec::with_capacity(count);
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); count];
    for at in 0..count {
        let below = below(at);
        open.push(below.len());
        below.into_iter().for_each(|to| above[to].push(at));
    }
    let mut ready: Vec<usize> = (0..count).filter(|at| open[*at] == 0).collect();
    let mut stuck = vec![true; count];
    while let Some(at) = ready.pop() {
        stuck[at] = false;
        for to in &above[at] {
            open[*to] -= 1;
            if open[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    stuck
}

/// A cycle that begins and ends with the ticket that is written first.
fn from_first(cycle: &[usize]) -> Vec<usize> {
    let first = cycle.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(place, _)| place);
    let mut path: Vec<usize> = cycle[first..].iter().chain(&cycle[..first]).copied().collect();
    path.extend(path.first().copied());
    path
}
