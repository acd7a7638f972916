//! Plans: approval, tickets that are added, splits and drafts.

use super::*;
use crate::Ticket;

#[test]
fn a_drafted_track_is_approved() {
    check("a; b after a; drafted | open", "a awaiting_approval (plan), b awaiting_approval (plan) | waiting");
    check("a; b after a; drafted | open | approve", "a ready, b blocked");
    check("a; b after a; drafted | open | approve b", "a awaiting_approval (plan), b blocked | waiting");
    check("a; b after a; drafted | open | cancel a | approve", "a cancelled, b blocked");
    check_refused("a; drafted | open | a starts", "the step is over: a/finish/0");
    check_refused("a | open | approve", "no ticket awaits approval");
    check_refused("a | open | approve a", "the ticket \"a\" is ready");
    check("a; unasked | open", "a ready");
}

#[test]
fn tickets_are_added() {
    check("a | open | add b after a; c", "a ready, b blocked, c ready");
    check("a | open | a done | add b after a", "a merged, b ready");
    check("a | open | cancel a | add b after a", "a cancelled, b blocked");
    check("a | open | add c after b; b after a", "a ready, c blocked, b blocked");
    check_refused(
        "a | open | add A",
        "two tickets have the id \"A\"; upper and lower case count as the same",
    );
    check_refused(
        "a | open | add b; b",
        "two tickets have the id \"b\"; upper and lower case count as the same",
    );
    check_refused(
        "a | open | add b after x",
        "the ticket \"b\" depends on \"x\", which the track does not have",
    );
    check_refused("a | open | add b after c; c after b", "tickets wait for each other: b → c → b");
    check_refused("a | open | add b after b", "tickets wait for each other: b → b");
}

#[test]
fn parts_are_approved_and_come_first() {
    let split = "a; z after a; models 1 | open | a faults stuck, splits b+c after b";
    check(split, "a blocked, z blocked, b awaiting_approval (plan), c awaiting_approval (plan) | waiting");
    check(&format!("{split} | approve"), "a blocked, z blocked, b ready, c blocked");
    check(&format!("{split} | approve | b done | c done"), "a working, z blocked, b merged, c merged");
    check_steps(&format!("{split} | approve | b done | c done"), "a/work/2 m1 fresh onto");
    check_why(&format!("{split} | approve | b done | c done"), "a", "parts_merged");
    check(&format!("{split} | approve | b done | c done | a done"), "a merged, z ready, b merged, c merged");
    check("a; models 1; unasked | open | a faults stuck, splits b+c", "a blocked, b ready, c ready");
    check(
        "a; models 1; unasked | open | a faults stuck, splits b | b done | a needs-nothing, passes",
        "a no_change, b merged",
    );
}

#[test]
fn a_ticket_is_split_once() {
    let split = "a; models 1; unasked | open | a faults stuck, splits b";
    check(&format!("{split} | b faults stuck"), "a blocked, b failed (decision)");
    check_why(&format!("{split} | b faults stuck"), "b", "fault, models_used, split_used");
    check(&format!("{split} | b done | a faults stuck"), "a failed (decision), b merged");
    check(&format!("{split} | b faults stuck | retry b | b done"), "a working, b merged");
    check(&format!("{split} | b faults stuck | retry a"), "a working, b failed (decision)");
}

#[test]
fn parts_go_with_the_whole() {
    let split = "a; models 1; unasked | open | a faults stuck, splits b+c";
    check(&format!("{split} | cancel a"), "a cancelled, b cancelled, c cancelled");
    check(&format!("{split} | b done | retry a"), "a working, b merged, c cancelled");
    check(&format!("{split} | b done | retry a | a done"), "a merged, b merged, c cancelled");
    check(&format!("{split} | cancel b"), "a blocked, b cancelled, c ready");
    check(&format!("{split} | cancel b | retry b"), "a blocked, b ready, c ready");
    check(&format!("{split} | cancel a | retry a"), "a ready, b cancelled, c cancelled");
}

#[test]
fn bad_splits_are_refused() {
    let split = "a; z after a; models 1 | open | a faults stuck | a";
    check_refused(
        &format!("{split} splits a"),
        "two tickets have the id \"a\"; upper and lower case count as the same",
    );
    check_refused(&format!("{split} splits"), "the step needs at least one part");
    check_refused(&format!("{split} splits b after a"), "tickets wait for each other: b → a → b");
    check_refused(&format!("{split} splits b after z"), "tickets wait for each other: b → z → a → b");
    check_refused(
        &format!("{split} splits b+c+d+e+f+g+h+i+j+k+l+m+n"),
        "the split has 13 parts, at most 12 are allowed",
    );
    check_refused("a | open | a starts, splits b", "the step is over: a/split/1");
}

#[test]
fn a_part_may_change_no_more_than_the_whole() {
    let mut track = Track::new("track");
    let scope = vec!["src/**".to_owned()];
    track.tickets.push(Ticket { scope: scope.clone(), ..Ticket::new(play::id("a"), "a") });
    let mut play = Play::new(track, Isolation::Worktrees, PlanApproval::Skipped);
    play.models = 1;
    for clause in ["open", "a faults stuck, splits b"] {
        play.clause(clause).expect(clause);
    }
    assert_eq!(play.conduct.ticket(&play::id("b")).expect("b").ticket.scope, scope);
}

#[test]
fn what_a_worker_finds_becomes_drafts() {
    check("a | open | a finds x y", "a submitted, a-found-1 draft (plan), a-found-2 draft (plan)");
    check_steps("a | open | a finds x, passes, merges", "/finish/1");
    check(
        "a | open | a finds x, red, finds x y",
        "a submitted, a-found-1 draft (plan), a-found-2 draft (plan)",
    );
    check("a | open | a finds x x", "a submitted, a-found-1 draft (plan)");
    check("a; a-found-1 | open | a finds x", "a submitted, a-found-1 ready, a-found-2 draft (plan)");
    check("a; A-found-1 | open | a finds x", "a submitted, A-found-1 ready, a-found-2 draft (plan)");
    check("a | open | a finds x | approve a-found-1", "a submitted, a-found-1 ready");
    check("a | open | a finds x, passes, merges | finish | approve a-found-1", "a merged, a-found-1 ready");
    check("a | open | a finds x | cancel a-found-1", "a submitted, a-found-1 cancelled");
    check_refused("a | open | a finds x | approve", "no ticket awaits approval");
}

#[test]
fn cycles() {
    fn of(script: &str) -> String {
        let tickets = Play::of(script).conduct.track().tickets.clone();
        let ids = cycle(&tickets).unwrap_or_default();
        ids.iter().map(TicketId::as_str).collect::<Vec<_>>().join(" ")
    }
    assert_eq!(of("a; b after a; c after a b"), "");
    assert_eq!(of("a after a"), "a a");
    assert_eq!(of("a after b; b after a"), "a b a");
    assert_eq!(of("z after a; a after c; b after a; c after b"), "a c b a");
    assert_eq!(of("a after x; b"), "");
    let chain: Vec<String> = (0..9_999).map(|at| format!("t{at} after t{}", at + 1)).collect();
    let tickets = Play::of(&format!("{}; t9999", chain.join(";"))).conduct.track().tickets.clone();
    assert_eq!(cycle(&tickets), None, "a long chain needs no stack");
}
