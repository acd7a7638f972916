//! Large tracks, by counting: the work per ticket does not grow with the track.

use std::collections::HashMap;

use super::random::good;
use super::*;
use crate::{Limits, StepKind};

/// Events of a ticket that goes its way without a detour: five steps start, five outcomes come in, and the
/// verdict and the review lead to a decision each.
const EVENTS: usize = 12;
/// Steps of such a ticket: prepare, work, verify, review, integrate.
const STEPS: usize = 5;
const CONCURRENCY: usize = 8;

/// A chain as long as a third of the track, and a tree of diamonds: `0 → 1 → 2 and 3 → 4 → 5`, where `0`
/// depends on the end of the diamond above.
fn large(count: usize) -> Vec<String> {
    let chain = (0..count / 3).map(|at| match at {
        0 => "c0".to_owned(),
        at => format!("c{at} after c{}", at - 1),
    });
    let tree = (0..count - count / 3).map(|at| {
        let (group, first) = (at / 6, at - at % 6);
        match at % 6 {
            0 if group == 0 => format!("t{at}"),
            0 => format!("t{at} after t{}", (group - 1) / 2 * 6 + 5),
            3 => format!("t{at} after t{}", first + 1),
            4 => format!("t{at} after t{} t{}", first + 2, first + 3),
            _ => format!("t{at} after t{}", at - 1),
        }
    });
    chain.chain(tree).collect()
}

fn opened(tickets: &[String]) -> Play {
    let mut track = Track::new("large");
    track.concurrency = CONCURRENCY;
    track.tickets = tickets.iter().map(|line| play::written(line)).collect();
    let mut play = Play::new(track, Isolation::Worktrees, PlanApproval::Written);
    play.clause("open").expect("it opens");
    play
}

/// Takes the most urgent step, again and again, until the track is at its end. Returns the steps of each ticket.
fn run_to_the_end(play: &mut Play) -> HashMap<TicketId, usize> {
    let mut taken: HashMap<TicketId, usize> = HashMap::new();
    loop {
        let steps = play.conduct.steps(Limits::default());
        assert!(steps.len() <= CONCURRENCY + 1, "{} steps at once", steps.len());
        let Some(step) = steps.first() else { return taken };
        if let Some(ticket) = &step.key.ticket {
            let below = &play.conduct.ticket(ticket).expect("a ticket").ticket.depends_on;
            let is_met = |id: &TicketId| play.conduct.state(id) == Some(State::Merged);
            assert!(below.iter().all(is_met), "{} is offered too early", step.key);
            *taken.entry(ticket.clone()).or_default() += 1;
        }
        play.clause(&good(step)).unwrap_or_else(|refusal| panic!("{}: {refusal}", step.key));
    }
}

#[test]
fn a_large_track_costs_as_much_per_ticket_as_a_small_one() {
    for count in [30, 3_000] {
        let mut play = opened(&large(count));
        let taken = run_to_the_end(&mut play);
        assert_eq!(play.conduct.phase(), Phase::Finished);
        assert_eq!(taken.len(), count);
        assert!(taken.values().all(|steps| *steps == STEPS), "{taken:?}");
        let mut merges: HashMap<&TicketId, usize> = HashMap::new();
        for recorded in &play.log {
            if let Event::Merged { ticket, .. } = &recorded.event {
                *merges.entry(ticket).or_default() += 1;
            }
        }
        assert_eq!(merges.len(), count);
        assert!(merges.values().all(|times| *times == 1), "{merges:?}");
        assert_eq!(play.log.len(), count * EVENTS + 2, "one event opens the track, one ends it");
        play.assert_indexes();
    }
}

#[test]
fn a_cancelled_ticket_stops_a_long_chain_and_a_retry_lifts_it() {
    const COUNT: usize = 9_000;
    let mut play = opened(&large(COUNT));
    let count =
        |play: &Play, short| play.conduct.counts().into_iter().find(|it| it.0 == short).expect("a count").1;
    play.clause("cancel c0").expect("it is cancelled");
    play.clause("cancel t0").expect("it is cancelled");
    assert_eq!(count(&play, ShortState::Blocked), COUNT - 2);
    // Nothing can go on by itself.
    let offered: Vec<StepKind> =
        play.conduct.steps(Limits::default()).iter().map(|step| step.key.kind).collect();
    assert_eq!(offered, [StepKind::Finish]);
    play.assert_indexes();
    let events = play.log.len();
    for ticket in ["c0", "t0"] {
        play.clause(&format!("retry {ticket}")).expect("it is tried again");
    }
    assert_eq!(play.log.len(), events + 2, "one event each, however many tickets follow");
    let offered: Vec<String> =
        play.conduct.steps(Limits::default()).iter().map(|step| step.key.to_string()).collect();
    assert_eq!(offered, ["c0/prepare/1", "t0/prepare/1"], "the longer chain first");
    play.assert_indexes();
}

#[test]
fn a_worker_that_waits_for_a_person_holds_nothing_else_up() {
    let mut play = opened(&large(600));
    play.clause("c0 asks").expect("it asks");
    let taken = run_to_the_end(&mut play);
    assert_eq!(taken.len(), 400, "the tree goes on");
    assert_eq!(play.conduct.phase(), Phase::Waiting);
    play.clause("answer c0").expect("it is answered");
    assert_eq!(run_to_the_end(&mut play).len(), 200);
    assert_eq!(play.conduct.phase(), Phase::Finished);
}
