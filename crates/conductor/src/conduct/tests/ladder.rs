//! The ladder: again, the next model, the tech lead, a person.

use super::*;

#[test]
fn the_first_red_check_stays_with_the_model() {
    check("a | open | a works, red", "a rework");
    check_steps("a | open | a works, red", "a/work/2 m1");
    check_why("a | open | a works, red", "a", "red_check");
}

#[test]
fn two_red_checks_lead_to_the_next_model() {
    check_steps("a | open | a works, red, works, red", "a/work/3 m2 fresh");
    check_why("a | open | a works, red, works, red", "a", "red_check");
    check_steps("a | open | a works, red, works, red, works, red", "a/work/4 m2");
    check_steps("a | open | a works, red, works, red, works, red, works, red", "a/work/5 m3 fresh");
    check("a | open | a works, red, works, red, works, passes, merges", "a merged");
}

#[test]
fn a_false_claim_gets_no_second_chance() {
    check_steps("a | open | a works, lies", "a/work/2 m2 fresh");
    check_why("a | open | a works, lies", "a", "rejected");
    check_steps("a | open | a works, lies, works, lies", "a/work/3 m3 fresh");
}

#[test]
fn a_stuck_worker_leads_to_the_next_model() {
    check("a | open | a starts, faults stuck", "a working");
    check_steps("a | open | a starts, faults stuck", "a/work/2 m2 fresh");
    check_steps("a | open | a starts, faults model", "a/work/2 m2 fresh");
    check_why("a | open | a starts, faults stuck", "a", "fault");
}

#[test]
fn models_are_changed_twice_by_default() {
    check_steps("a; models 9 | open | a faults stuck, faults stuck", "a/work/3 m3 fresh");
    check("a; models 9; unsplit | open | a faults stuck, faults stuck, faults stuck", "a failed (decision)");
    check("a; models 1; unsplit | open | a faults stuck", "a failed (decision)");
    check("a; models 9; changes 0; unsplit | open | a faults stuck", "a failed (decision)");
    check_steps(
        "a; models 9; changes 3 | open | a faults stuck, faults stuck, faults stuck",
        "a/work/4 m4 fresh",
    );
    check_why("a; models 1; unsplit | open | a faults stuck", "a", "fault, models_used");
}

#[test]
fn the_last_model_leads_to_the_tech_lead() {
    check_steps("a; models 1 | open | a faults stuck", "a/split/1");
    check_why("a; models 1 | open | a faults stuck", "a", "fault, models_used");
    check("a; models 1 | open | a faults stuck, faults stuck", "a failed (decision)");
    check_why("a; models 1 | open | a faults stuck, faults stuck", "a", "split_failed");
    check_steps("a; models 1 | open | a faults stuck, faults nothing", "a/split/2");
    check("a; models 1 | open | a faults stuck, faults nothing, faults nothing", "a failed (decision)");
    check_steps("a; models 1 | open | a faults stuck, faults transport", "a/split/2 in 2s");
    check_refused("a; models 1 | open | a faults stuck | a works", "the step is over: a/work/1");
}

#[test]
fn a_transport_fault_waits_and_stays_with_the_model() {
    check_steps("a | open | a faults transport", "a/work/2 m1 in 2s");
    check_steps("a | open | a faults transport | wait 2 | a faults transport", "a/work/3 m1 in 4s");
    check_refused("a | open | a faults transport | wait 1 | a starts", "the step cannot start now: a/work/2");
    check_steps(
        "a; retries 1 | open | a faults transport | wait 2 | a faults transport",
        "a/work/3 m2 fresh",
    );
    check_why(
        "a; retries 1 | open | a faults transport | wait 2 | a faults transport",
        "a",
        "fault, repeated",
    );
    // What arrives ends the row.
    check_steps(
        "a; retries 1 | open | a faults transport | wait 2 | a works, red, faults transport",
        "a/work/4 m1 in 2s",
    );
    // A provider that is down says nothing about the ticket: it is never split for that.
    check("a; retries 0; models 1 | open | a faults transport", "a needs_input (decision) | waiting");
    check_steps("a; retries 0; models 1 | open | a faults transport | retry a", "a/work/2 m1 fresh onto");
}

#[test]
fn a_backoff_is_bounded() {
    let row = " | wait 300 | a faults transport".repeat(9);
    check_steps(&format!("a; retries 20 | open | a faults transport{row}"), "a/work/11 m1 in 300s");
}

#[test]
fn a_worker_that_hands_nothing_in_is_reminded_once() {
    check_steps("a | open | a faults nothing", "a/work/2 m1");
    check_steps("a | open | a faults nothing, faults nothing", "a/work/3 m2 fresh");
    check_steps("a | open | a faults nothing, faults nothing, faults nothing", "a/work/4 m2");
}

#[test]
fn a_partial_result_is_a_setback() {
    check("a | open | a part-works", "a rework");
    check_steps("a | open | a part-works", "a/work/2 m1");
    check_steps("a | open | a part-works, part-works", "a/work/3 m2 fresh");
    check_steps("a | open | a part-works, works, red", "a/work/3 m2 fresh");
    check_why("a | open | a part-works", "a", "partial");
}

#[test]
fn setups_are_for_a_person() {
    check("a | open | a faults setup", "a blocked (setup) | waiting");
    check_steps("a; b | open | a faults setup", "b/prepare/1");
    check("a | open | a faults setup | retry a", "a ready");
    check_steps("a | open | a faults setup | retry a", "a/prepare/2");
    check("a; b after a | open | a faults setup", "a blocked (setup), b blocked | waiting");
    check_why("a | open | a faults setup", "a", "fault");
}

#[test]
fn a_red_base_blocks() {
    check("a | open | a prepares-red", "a blocked (baseline) | waiting");
    check("a | open | a faults base", "a blocked (baseline) | waiting");
    check_why("a | open | a prepares-red", "a", "fault");
    check_steps("a | open | a prepares-red | retry a", "a/prepare/2");
    check_steps("a | open | a prepares-red | accept a", "a/prepare/2");
    check("a | open | a prepares-red | accept a | a prepares-red", "a working");
    check("a | open | a prepares-red | retry a | a prepares-red", "a blocked (baseline) | waiting");
}

#[test]
fn machine_faults_are_tried_again() {
    check_steps("a | open | take a/prepare/1 | a faults machine", "a/prepare/2 in 2s");
    check_steps("a | open | a works, faults machine", "a/verify/1 in 2s");
    check_steps("a | open | a works, checks, faults machine", "a/review/2 m1 open=0 in 2s");
    check_steps("a | open | a works, passes, faults machine", "a/integrate/2 in 2s");
    check_steps("a | open | a faults machine", "a/work/2 m1 in 2s");
    let thrice = "a faults machine | wait 2 | a faults machine | wait 4 | a faults machine | wait 8 | a faults machine";
    check(&format!("a | open | a works | {thrice}"), "a needs_input (setup) | waiting");
    check_steps(&format!("a | open | a works | {thrice} | retry a"), "a/verify/1");
    check_steps(&format!("a | open | a works, passes | {thrice} | retry a"), "a/integrate/5");
    check_steps(&format!("a | open | a works, checks | {thrice}"), "a/review/5 m2 open=0");
    check_steps(&format!("a | open | {thrice} | retry a"), "a/work/5 m1");
    check_why(&format!("a | open | a works | {thrice}"), "a", "fault, repeated");
}

#[test]
fn three_failures_in_a_row_pause_the_track() {
    let track = "a; b; c; d; e; unsplit";
    check(
        &format!("{track} | open | a fails | b fails"),
        "a failed (decision), b failed (decision), c ready, d ready, e ready",
    );
    check(
        &format!("{track} | open | a fails | b fails | c fails"),
        "a failed (decision), b failed (decision), c failed (decision), d ready, e ready | paused",
    );
    check(
        &format!("{track} | open | a fails | b fails | d done | c fails"),
        "a failed (decision), b failed (decision), c failed (decision), d merged, e ready",
    );
    check(
        &format!("{track} | open | a fails | retry a | a fails | retry a | a fails"),
        "a failed (decision), b ready, c ready, d ready, e ready",
    );
    check(
        &format!("{track} | open | a fails | b fails | c fails | resume | d fails"),
        "a failed (decision), b failed (decision), c failed (decision), d failed (decision), e ready",
    );
    check(
        &format!("{track}; failures 0 | open | a fails | b fails | c fails"),
        "a failed (decision), b failed (decision), c failed (decision), d ready, e ready",
    );
    check(
        &format!("{track}; failures 1 | open | a fails"),
        "a failed (decision), b ready, c ready, d ready, e ready | paused",
    );
}

#[test]
fn a_pause_does_not_keep_a_track_from_its_end() {
    check_steps("a; unsplit; failures 1 | open | a fails", "/finish/1");
    check("a; unsplit; failures 1 | open | a fails | finish | retry a", "a working");
}
