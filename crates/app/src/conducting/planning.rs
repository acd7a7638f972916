//! The plan of a track before it is worked: who would work what, in which order, with what in the prompt.

use std::collections::HashMap;

use async_recursion::async_recursion as boxed;
use conductor::{Casting, FellBack, Role, Ticket, TicketId, Track};
use persona::TokenCounter as _;

use super::casting::{self, Settings};
use super::commands::written;
use super::ground::{base_of, has_repository};
use super::opening;
use crate::inputs::WrittenTrack;
use crate::outputs::{PlannedContext, PlannedTicket, TrackPlan};
use crate::{Result, Runtime, Tokenizer};

impl Runtime {
    /// Shows how a track would be worked. Stores nothing, and calls no model.
    #[boxed]
    pub async fn plan_track(&self, input: WrittenTrack) -> Result<TrackPlan> {
        let track = written(input)?;
        let (isolate, base) = match self.project_root() {
            Ok(project) => (has_repository(&project).await, base_of(&project, &track).await),
            Err(_) => (false, None),
        };
        let concurrency = if isolate { track.concurrency } else { 1 };
        let mut tickets = Vec::with_capacity(track.tickets.len());
        for (ticket, depth) in in_order(&track.tickets) {
            tickets.push(self.plan_ticket(&track, ticket, depth, isolate).await?);
        }
        let setup = track.setup.and_then(|setup| setup.command);
        Ok(TrackPlan { title: track.title, isolate, base, setup, concurrency, tickets })
    }

    async fn plan_ticket(
        &self,
        track: &Track,
        ticket: &Ticket,
        depth: usize,
        isolate: bool,
    ) -> Result<PlannedTicket> {
        let settings = Settings { track, user: &self.conducting().mma };
        let worker = casting::cast(self, settings, ticket, Role::Worker, None).await;
        let reviewer = match track.review.enabled {
            true => Some(casting::cast(self, settings, ticket, Role::Reviewer, None).await),
            false => None,
        };
        let fell_back = |casting: &Casting| casting.fell_back.clone();
        let fell_back: Vec<FellBack> =
            [fell_back(&worker), reviewer.as_ref().and_then(fell_back)].into_iter().flatten().collect();
        let message = opening::work(track, ticket, None, isolate);
        let persona = worker.persona.clone().unwrap_or_else(|| casting::builtin(ticket.tier));
        let sizes = self.sizes_of(&persona, ticket, &message).await?;
        let caps = if ticket.caps.is_none() { track.caps.ticket } else { ticket.caps };
        Ok(PlannedTicket {
            id: ticket.id.clone(),
            title: ticket.title.clone(),
            tier: ticket.tier,
            depends_on: ticket.depends_on.clone(),
            depth,
            persona: worker.persona,
            models: worker.models,
            reviewer: reviewer.and_then(|casting| casting.persona),
            fell_back,
            tokens: sizes.prompt + Tokenizer.count(&message),
            context: sizes.context,
            check: ticket.check.clone().or_else(|| track.check.clone()),
            cap: caps,
        })
    }

    async fn sizes_of(&self, persona: &persona::Name, ticket: &Ticket, message: &str) -> Result<Sizes> {
        let (prompt, context) =
            self.first_prompt(persona, ticket.context_preset.as_ref(), &ticket.files, message).await?;
        let context = context.map(|context| PlannedContext {
            files: context.files.len(),
            left_out: context.left_out.len(),
            tokens: context.tokens,
            budget: context.budget,
        });
        Ok(Sizes { prompt: Tokenizer.count(&prompt), context })
    }
}

/// The sizes of a first prompt.
struct Sizes {
    prompt: usize,
    context: Option<PlannedContext>,
}

/// Tickets with the number of those before them in the longest chain, in an order in which they can be worked.
/// The track was checked: there is no cycle.
fn in_order(tickets: &[Ticket]) -> Vec<(&Ticket, usize)> {
    let mut depths: HashMap<&TicketId, usize> = HashMap::new();
    let mut order = Vec::with_capacity(tickets.len());
    let mut left: Vec<&Ticket> = tickets.iter().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|ticket| {
            let above: Option<Vec<usize>> =
                ticket.depends_on.iter().map(|id| depths.get(id).copied()).collect();
            let Some(above) = above else { return true };
            let depth = above.into_iter().map(|depth| depth + 1).max().unwrap_or(0);
            depths.insert(&ticket.id, depth);
            order.push((*ticket, depth));
            false
        });
        if left.len() == before {
            break;
        }
    }
    order.sort_by_key(|(_, depth)| *depth);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_come_after_those_that_they_depend_on() {
        let id = |text: &str| TicketId::parse(text).expect("an id");
        let ticket = |name: &str, on: &[&str]| Ticket {
            depends_on: on.iter().map(|on| id(on)).collect(),
            ..Ticket::new(id(name), name)
        };
        let tickets = [ticket("d", &["b", "c"]), ticket("c", &["a"]), ticket("b", &["c"]), ticket("a", &[])];
        let order: Vec<(&str, usize)> =
            in_order(&tickets).into_iter().map(|(ticket, depth)| (ticket.id.as_str(), depth)).collect();
        assert_eq!(order, [("a", 0), ("c", 1), ("b", 2), ("d", 3)]);
    }
}
