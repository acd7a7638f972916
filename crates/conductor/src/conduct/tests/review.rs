//! Review, and results that only a person can approve.

use super::*;

#[test]
fn another_model_than_the_workers_reviews() {
    let play = Play::of("a | open | a works, checks | take a/review/1");
    let round = &play.conduct.ticket(&play::id("a")).expect("a").rounds[0];
    assert_eq!((round.model.name(), round.head.as_deref()), ("r2", Some("a1")));
    // The worker's own model is the last one.
    let play = Play::of("a | open | a works, checks, faults model | take a/review/2");
    assert_eq!(play.conduct.ticket(&play::id("a")).expect("a").rounds[1].model.name(), "m1");
}

#[test]
fn a_reviewer_sends_back_and_looks_again() {
    check("a | open | a works, checks, reworked", "a rework");
    check_steps("a | open | a works, checks, reworked", "a/work/2 m1");
    check_why("a | open | a works, checks, reworked", "a", "review_findings");
    check_steps("a | open | a works, checks, reworked, works, checks", "a/review/2 m1 since=a1 open=1");
    check("a | open | a works, checks, reworked, works, passes, merges", "a merged");
    // A review is no red check.
    check_steps("a | open | a works, checks, reworked, works, red", "a/work/3 m1");
}

#[test]
fn rounds_are_bounded() {
    let twice = "a works, checks, reworked, works, checks, reworked";
    check_steps(&format!("a | open | {twice}"), "a/split/1");
    check_why(&format!("a | open | {twice}"), "a", "review_findings, review_rounds_used");
    check_steps(&format!("a; unsplit | open | {twice}"), "a/work/3 m2 fresh");
    check_steps(&format!("a; unsplit | open | {twice} | {twice}"), "a/work/5 m3 fresh");
    check("a; unsplit; models 1; rounds 1 | open | a works, checks, reworked", "a failed (decision)");
}

#[test]
fn a_blocked_approach_gets_another_worker() {
    check_steps("a | open | a works, checks, refused", "a/work/2 m2 fresh");
    check_why("a | open | a works, checks, refused", "a", "review_blocked");
    check("a; models 1; unsplit | open | a works, checks, refused", "a failed (decision)");
}

#[test]
fn a_pass_with_a_grave_finding_is_none() {
    let mut play = Play::of("a | open | a works, checks | take a/review/1");
    let review =
        crate::Review { verdict: crate::ReviewVerdict::Pass, ..play::review(crate::ReviewVerdict::Block) };
    play.command(&crate::Command::Reviewed { ticket: play::id("a"), round: 1, review }).expect("reviewed");
    assert_eq!(play.states(), "a rework");
}

#[test]
fn a_reviewer_may_fail() {
    check_steps("a | open | a works, checks, faults nothing", "a/review/2 m2 open=0");
    check("a | open | a works, checks, faults nothing, faults stuck", "a needs_input (approval) | waiting");
    check("a | open | a works, checks, faults nothing, faults stuck | accept a", "a queued");
    check("a | open | a works, checks, faults nothing, faults stuck | reject a", "a rework");
    check_steps("a | open | a works, checks, faults nothing, faults stuck | retry a", "a/review/3 m1 open=0");
    check_steps("a | open | a works, checks, faults transport", "a/review/2 m1 open=0 in 2s");
    check("a | open | a works, checks, faults cap", "a needs_input (cap) | waiting");
    check_steps("a | open | a works, checks, faults cap | raise track", "a/review/2 m1 open=0");
}

#[test]
fn without_a_check_a_person_approves() {
    check("a | open | a works, unverified", "a reviewing");
    check("a | open | a works, unverified, reviewed", "a needs_input (approval) | waiting");
    check_why("a | open | a works, unverified, reviewed", "a", "review_findings, unverified");
    check("a | open | a works, unverified, reviewed | accept a", "a queued");
    check("a | open | a works, unverified, reviewed | reject a", "a rework");
    check_why("a | open | a works, unverified, reviewed | reject a", "a", "person");
    check("a; unreviewed | open | a works, unverified", "a needs_input (approval) | waiting");
    check("a; unreviewed | open | a works, unverified | accept a | a merges", "a merged");
    // A rejection is a setback like any other.
    check_steps(
        "a; unreviewed | open | a works, unverified | reject a | a works, unverified | reject a",
        "a/work/3 m2 fresh",
    );
}

#[test]
fn without_reviews_the_check_decides() {
    check("a; unreviewed | open | a works, checks", "a queued");
    check("a; unreviewed | open | a works, checks-flagged", "a needs_input (approval) | waiting");
    check("a | open | a works, checks-flagged", "a reviewing");
    check("a; unreviewed | open | a works, red", "a rework");
}

#[test]
fn no_change_is_confirmed() {
    check("a | open | a needs-nothing", "a submitted");
    check("a | open | a needs-nothing, checks", "a reviewing");
    check("a | open | a needs-nothing, passes", "a no_change");
    check("a | open | a needs-nothing, checks, reworked", "a rework");
    check("a; unreviewed | open | a needs-nothing, checks", "a needs_input (approval) | waiting");
    check_why("a; unreviewed | open | a needs-nothing, checks", "a", "no_change_claimed");
    check("a; unreviewed; b after a | open | a needs-nothing, checks | accept a", "a no_change, b ready");
    check("a; unreviewed | open | a needs-nothing, checks | reject a", "a rework");
    check("a | open | a needs-nothing, red", "a rework");
}
