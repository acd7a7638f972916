//! From ready to merged.

use super::*;

#[test]
fn a_ticket_goes_its_way() {
    check("a", "a ready | new");
    check("a | open", "a ready");
    check("a | open | take a/prepare/1", "a setup");
    check("a | open | a prepares", "a working");
    check("a | open | a starts", "a working");
    check("a | open | a works", "a submitted");
    check("a | open | a works | take a/verify/1", "a checking");
    check("a | open | a works, checks", "a reviewing");
    check("a | open | a works, checks, reviewed", "a queued");
    check("a | open | a works, passes, integrates", "a integrating");
    check("a | open | a works, passes, merges", "a merged");
    check("a | open | a done | finish", "a merged | finished");
}

#[test]
fn steps_follow_the_state() {
    check_steps("a", "");
    check_steps("a | open", "a/prepare/1");
    check_steps("a | open | take a/prepare/1", "a/prepare/1*");
    check_steps("a | open | a prepares", "a/work/1 m1 fresh");
    check_steps("a | open | a starts", "a/work/1* m1");
    check_steps("a | open | a works", "a/verify/1");
    check_steps("a | open | a works, checks", "a/review/1 m1 open=0");
    check_steps("a | open | a works, passes", "a/integrate/1");
    check_steps("a | open | a works, passes, integrates", "a/integrate/1*");
    check_steps("a | open | a done", "/finish/1");
    check_steps("a | open | a done | finish", "");
    check_steps("concurrency 2 | open", "/finish/1");
}

#[test]
fn dependencies_come_first() {
    check("a; b after a | open", "a ready, b blocked");
    check("a; b after a | open | a works, passes", "a queued, b blocked");
    check("a; b after a | open | a works, passes, merges", "a merged, b ready");
    check("a; b after a | open | a needs-nothing, passes", "a no_change, b ready");
    check("a; b; c after a b | open | a done", "a merged, b ready, c blocked");
    check("a; b; c after a b | open | a done | b done", "a merged, b merged, c ready");
    check("b after a; a | open", "b blocked, a ready");
    check(
        "a; b after a; c after a; d after b c | open | a done | b done | c done | d done | finish",
        "a merged, b merged, c merged, d merged | finished",
    );
    check_refused("a; b after a | open | take b/prepare/1", "the step is over: b/prepare/1");
}

#[test]
fn blocked_cascades_and_lifts() {
    check("a; b after a; c after b | open | cancel a", "a cancelled, b blocked, c blocked");
    check_steps("a; b after a; c after b | open | cancel a", "/finish/1");
    check(
        "a; b after a; c after b | open | cancel a | finish",
        "a cancelled, b blocked, c blocked | finished",
    );
    check("a; b after a; c after b | open | cancel a | finish | retry a", "a ready, b blocked, c blocked");
    check(
        "a; b after a; c after b | open | cancel a | finish | retry a | a done | b done",
        "a merged, b merged, c ready",
    );
    check("a; b after a; unsplit | open | a fails", "a failed (decision), b blocked");
    check("a; b after a; unsplit | open | a fails | retry a | a done", "a merged, b ready");
    // The rest of the track goes on.
    check_steps("a; b after a; c | open | cancel a", "c/prepare/1");
    check_steps("a; b; c after a b | open | cancel a | cancel b | retry a | a done", "/finish/1");
    check(
        "a; b; c after a b | open | cancel a | cancel b | retry a | retry b | a done | b done",
        "a merged, b merged, c ready",
    );
}

#[test]
fn the_longest_chain_goes_first() {
    check_steps("a; b; c after b; d after c; concurrency 1 | open", "b/prepare/1");
    check_steps("a; b; c after b; d after c; e after a; concurrency 2 | open", "b/prepare/1, a/prepare/1");
    check_steps("a; b; concurrency 2 | open", "a/prepare/1, b/prepare/1");
    check_steps("a; b; concurrency 1 | open | add c after b | add d after c", "b/prepare/1");
}

#[test]
fn concurrency_is_bounded() {
    check_steps("a; b; c; concurrency 2 | open", "a/prepare/1, b/prepare/1");
    check_steps("a; b; c; concurrency 2 | open 1", "a/prepare/1");
    check_steps("a; b; c; concurrency 2 | open | a starts", "a/work/1* m1, b/prepare/1");
    check_steps("a; b; c; concurrency 2 | open | a starts | b starts", "a/work/1* m1, b/work/1* m1");
    check_refused(
        "a; b; c; concurrency 2 | open | a starts | b starts | c starts",
        "the step cannot start now: c/prepare/1",
    );
    // Merging, and waiting for a person, need no place.
    check_steps("a; b; concurrency 1 | open | a works, passes", "a/integrate/1, b/prepare/1");
    check_steps("a; b; concurrency 1 | open | a asks", "b/prepare/1");
    check_steps("a; b; concurrency 1 | open | a asks | b starts | answer a", "b/work/1* m1");
    check_refused(
        "a; b; concurrency 1 | open | a asks | b starts | answer a | a works",
        "the step cannot start now: a/work/1",
    );
    // A ticket that waits to go on comes before one that was never worked.
    check_steps("a; b; concurrency 1 | open | a asks | answer a", "a/work/1* m1 answer=yes");
    check_steps(
        "a; b; c; concurrency 1 | open | a asks | b works | answer a | b passes",
        "b/integrate/1, a/work/1* m1 answer=yes",
    );
}

#[test]
fn one_tree_has_one_worker() {
    check_steps("a; b; in-place; concurrency 3 | open", "a/prepare/1");
    check_steps("a; b; in-place | open | a asks", "");
    check("a; b; in-place | open | a asks", "a needs_input (answer), b ready | waiting");
    check_steps("a; b; in-place | open | a works, passes", "a/integrate/1");
    check_steps("a; b; in-place | open | a done", "b/prepare/1");
    check_steps("a; b; in-place | open | a asks | answer a", "a/work/1* m1 answer=yes");
    check_refused(
        "a; b; in-place | open | a asks | answer a | b starts",
        "the step cannot start now: b/prepare/1",
    );
}

#[test]
fn one_ticket_is_merged_at_a_time() {
    check_steps("a; b | open | a works, passes | b works, passes", "a/integrate/1");
    check_steps("a; b | open | b works, passes | a works, passes", "b/integrate/1");
    check_steps("a; b | open | a works, passes | b works, passes, integrates", "b/integrate/1*");
    check_refused(
        "a; b | open | a works, passes | b works, passes, integrates | a integrates",
        "the step cannot start now: a/integrate/1",
    );
    check_steps(
        "a; b | open | a works, passes, faults machine | b works, passes",
        "b/integrate/1, a/integrate/2 in 2s",
    );
}

#[test]
fn a_step_that_was_started_can_be_taken_over() {
    check("a | open | take a/prepare/1 | take a/prepare/1", "a setup");
    check_steps("a | open | a starts | take a/work/1", "a/work/1* m1");
    check_refused("a | open | a works | take a/work/1", "the step is over: a/work/1");
    check_refused("a | open | take a/work/1", "the step is over: a/work/1");
    check_refused("a | open | take b/work/1", "the track has no ticket \"b\"");
}

#[test]
fn late_outcomes_change_nothing() {
    check_refused("a | open | a starts | a late-works 2", "the step is over: a/work/2");
    check_refused("a | open | a works | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a starts, faults stuck, starts | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a starts | retry a | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a starts | cancel a | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a asks | answer a | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a starts | abandon | a late-works 1", "the step is over: a/work/1");
    check_refused("a | open | a works | a keeps", "the step is over: a/work/1");
    check("a | open | a starts, keeps | a asks, keeps", "a needs_input (answer) | waiting");
}

#[test]
fn a_newer_log_is_read_only() {
    check_steps("a | open | newer", "");
    check_refused("a | open | newer | pause", "a newer version of Masque wrote this track");
    check_refused("a | open | newer | take a/prepare/1", "a newer version of Masque wrote this track");
}

#[test]
fn opening() {
    check_refused("a | take a/prepare/1", "the track is not open yet");
    check("a | abandon", "a cancelled | cancelled");
    check_refused("a | abandon | open", "the track has ended");
    check_refused("a | open | open", "the track is open already");
    check_refused("a after b | open", "the ticket \"a\" depends on \"b\", which the track does not have");
    check_refused("a; A | open", "two tickets have the id \"A\"; upper and lower case count as the same");
    check_refused("a after c; b after a; c after b | open", "tickets wait for each other: a → c → b → a");
    check_refused("a | open 257", "concurrency has 257 tickets, at most 256 are allowed");
}

#[test]
fn finishing() {
    check_refused("a | open | finish", "work is left to do");
    check_refused("a | open | a asks | finish", "work is left to do");
    check_refused("a | open | a done | finish | finish", "the track has ended");
    check("a | open | a done | finish | add b after a", "a merged, b ready");
    check_steps("a | open | a done | finish | add b after a | b done", "/finish/2");
    check("a; unsplit | open | a fails | finish", "a failed (decision) | finished");
    check("a; unsplit | open | a fails | finish | retry a", "a working");
}

#[test]
fn a_missing_persona_is_a_warning() {
    let play = Play::of("a; missing-persona | open | a starts, faults stuck, starts");
    let fell_back = &play.conduct.ticket(&play::id("a")).expect("a").fell_back;
    assert_eq!(fell_back.len(), 1, "once for each role");
    assert_eq!(fell_back[0].0, crate::Role::Worker);
    check("a; missing-persona | open | a done", "a merged");
}
