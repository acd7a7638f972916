//! Commands of people.

use super::*;

#[test]
fn pausing() {
    check("a | open | pause", "a ready | paused");
    check_steps("a | open | pause", "");
    check_steps("a | open | pause | resume", "a/prepare/1");
    check_refused("a | open | pause | a starts", "the step cannot start now: a/prepare/1");
    // What runs may end, and counts.
    check("a | open | a starts | pause | a late-works 1", "a submitted | paused");
    check_refused("a | open | a starts | pause | a works", "the step cannot start now: a/work/1");
    check_refused("a | open | pause | pause", "the track is paused already");
    check_refused("a | open | resume", "the track is not paused");
    check_refused("a | open | a done | finish | pause", "the track has ended");
}

#[test]
fn steps_that_a_person_approves() {
    check_steps("a; stepwise | open", "a/prepare/1");
    check_steps("a; stepwise | open | a prepares", "");
    check("a; stepwise | open | a prepares", "a working | waiting");
    check_needs("a; stepwise | open | a prepares", "a step");
    check_refused("a; stepwise | open | a starts", "the step cannot start now: a/work/1");
    check_steps("a; stepwise | open | a prepares | grant a", "a/work/1 m1 fresh");
    check_needs("a; stepwise | open | a prepares | grant a", "");
    check_steps("a; stepwise | open | a prepares | grant a | a starts", "a/work/1* m1");
    // A check calls no model and moves no branch.
    check_steps("a; stepwise | open | a prepares | grant a | a works", "a/verify/1");
    check_steps("a; stepwise | open | a prepares | grant a | a works, checks", "");
    check(
        "a; stepwise | open | a prepares | grant a | a works, checks | grant a | a reviewed | grant a | a merges",
        "a merged",
    );
    // Each attempt is a step.
    check_needs("a; stepwise | open | a prepares | grant a | a works, red", "a step");
    check_refused("a; stepwise | open | a prepares | grant a | grant a", "the ticket \"a\" is working");
    check_refused("a; stepwise | open | grant a", "the ticket \"a\" is ready");
    check_refused("a | open | a prepares | grant a", "the ticket \"a\" is working");
    // An answer approves the attempt that it is for.
    check_steps("a; stepwise | open | a prepares | grant a | a asks | answer a", "a/work/1* m1 answer=yes");
    // Another ticket merges meanwhile.
    let one = "prepares | grant {} | {} works, checks | grant {} | {} reviewed";
    let both = format!("a {} | b {}", one.replace("{}", "a"), one.replace("{}", "b"));
    check_steps(&format!("a; b; stepwise | open | {both} | grant b"), "b/integrate/1");
}

#[test]
fn questions() {
    check("a | open | a asks", "a needs_input (answer) | waiting");
    check_steps("a | open | a asks | answer a", "a/work/1* m1 answer=yes");
    check("a | open | a asks | answer a | a works", "a submitted");
    check("a | open | a asks | answer a | a asks | answer a | a works", "a submitted");
    check_refused("a | open | a starts | answer a", "the ticket \"a\" is working");
    check("a | open | a stops", "a needs_input (unblock) | waiting");
    check_why("a | open | a stops", "a", "reported_blocked");
    check_steps("a | open | a stops | answer a", "a/work/1* m1 answer=yes");
    check("a | open | a gives-up", "a needs_input (unblock) | waiting");
    check_steps("a | open | a gives-up | answer a", "a/work/1* m1 answer=yes");
    check("a | open | a gives-up | answer a | a works, passes, merges", "a merged");
    check_steps("a | open | a asks | retry a", "a/work/2 m1 fresh onto");
    // The tech lead may ask as well.
    check("a; models 1 | open | a faults stuck, asks", "a needs_input (answer) | waiting");
    check_steps("a; models 1 | open | a faults stuck, asks | answer a", "a/split/1* answer=yes");
    let twenty = "a asks | answer a | ".repeat(20);
    check_refused(
        &format!("a | open | {twenty} a asks"),
        "the attempt has 21 questions, at most 20 are allowed",
    );
}

#[test]
fn caps() {
    check("a | open | a faults cap", "a needs_input (cap) | waiting");
    check("a; b | open | a faults cap", "a needs_input (cap), b ready");
    check_steps("a | open | a faults cap | raise track", "a/work/2 m1");
    check("a | open | a faults cap | raise day", "a needs_input (cap) | waiting");
    check("a | open | a faults cap | raise a", "a needs_input (cap) | waiting");
    check_steps("a | open | a faults cap | retry a", "a/work/2 m1");
    check_steps("a | open | a faults cap | retry a other", "a/work/2 m1 fresh onto");
    check("a | open | a faults price", "a needs_input (price) | waiting");
    check_steps("a | open | a faults price | retry a", "a/work/2 m1");
    check("a | open | warn", "a ready");
    check_refused("a | open | raise b", "the track has no ticket \"b\"");
}

#[test]
fn warnings_are_given_once() {
    let mut play = Play::of("a | open | warn");
    let events = play.log.len();
    play.clause("warn").expect("a warning");
    assert_eq!(play.log.len(), events);
    play.clause("raise track").expect("more");
    play.clause("warn").expect("a warning");
    assert_eq!(play.log.len(), events + 2);
}

#[test]
fn retrying() {
    check_steps("a; unsplit | open | a fails | retry a", "a/work/4 m1 fresh onto");
    check_steps("a | open | a starts | retry a", "a/work/2 m1 fresh onto");
    check_steps("a | open | a works | retry a", "a/work/2 m1 fresh onto");
    check_steps("a | open | cancel a | retry a", "a/prepare/1");
    check_steps("a | open | a starts | cancel a | retry a", "a/prepare/2");
    check_refused("a | open | retry a", "the ticket \"a\" is ready");
    check_refused("a; b after a | open | retry b", "the ticket \"b\" is blocked");
    check_refused("a; b after a | open | cancel a | retry b", "the ticket \"b\" is blocked");
    check_refused("a | open | a done | retry a", "the ticket \"a\" is merged");
    check_refused("a | open | abandon | retry a", "the track has ended");
    check_why("a | open | a works, red | retry a", "a", "red_check, person");
    let play = Play::of("a | open | a starts, faults stuck | retry a other | a starts");
    let attempt = play.conduct.ticket(&play::id("a")).expect("a").attempt().expect("an attempt");
    assert_eq!((attempt.model.name(), attempt.fresh), ("other", true), "the chosen model comes first");
}

#[test]
fn cancelling() {
    check("a; b | open | cancel a", "a cancelled, b ready");
    check("a | open | a starts | cancel a", "a cancelled");
    check("a; unsplit | open | a fails | cancel a", "a cancelled");
    check_refused("a | open | a done | cancel a", "the ticket \"a\" is merged");
    check_refused("a | open | cancel a | cancel a", "the ticket \"a\" is cancelled");
    check(
        "a; b; c after a | open | a done | b starts | abandon",
        "a merged, b cancelled, c cancelled | cancelled",
    );
    check_steps("a | open | abandon", "");
    check_refused("a | open | abandon | finish", "the track has ended");
    check_refused("a | open | abandon | add b", "the track has ended");
    check_needs("a; b; unsplit | open | a fails | abandon", "");
}

#[test]
fn needs_come_in_the_order_of_their_urgency() {
    check_needs(
        "a; b; c; d; e; f; unsplit; unreviewed; concurrency 9 | open | a fails | b faults setup \
         | c faults cap | d works, unverified | e asks | f finds more",
        "e answer, d approval, c cap, b setup, a decision, f-found-1 plan",
    );
    check_needs("a; b; drafted | open | approve a | a asks", "a answer, b plan");
    check_needs("a", "");
}

#[test]
fn messages_are_bounded() {
    let mut play = Play::of("a | open | a asks");
    let (ticket, answer) = (play::id("a"), "x".repeat(crate::limits::MESSAGE_BYTES + 1));
    let refusal =
        play.command(&crate::Command::Answer { ticket, answer, by: "me".into() }).expect_err("too long");
    assert!(matches!(refusal, crate::Refusal::TooMuch { what: "the answer", .. }), "{refusal}");
}
