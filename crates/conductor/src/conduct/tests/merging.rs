//! Merging, as far as the machine decides it.

use super::*;

#[test]
fn a_conflict_becomes_a_ticket() {
    let conflict = "a; b after a; c | open | c done | a works, passes, conflicts c";
    check(conflict, "a blocked, b blocked, c merged, a-resolve ready");
    check_steps(conflict, "a-resolve/prepare/1");
    check_why(conflict, "a", "conflict");
    check(
        &format!("{conflict} | a-resolve works, passes"),
        "a blocked, b blocked, c merged, a-resolve queued",
    );
    check(&format!("{conflict} | a-resolve done"), "a merged, b ready, c merged, a-resolve merged");
    let play = Play::of(&format!("{conflict} | a-resolve done"));
    let a = play.conduct.ticket(&play::id("a")).expect("a");
    assert_eq!(a.via.as_ref().map(TicketId::as_str), Some("a-resolve"));
    assert_eq!(a.merged.as_deref(), Some("a-resolve-commit"));
}

#[test]
fn a_resolver_has_what_the_ticket_has() {
    let play = Play::of("a; c | open | c done | a works, passes, conflicts c");
    let resolver = play.conduct.ticket(&play::id("a-resolve")).expect("a resolver");
    assert_eq!(resolver.ticket.files, ["a.rs"]);
    assert!(matches!(&resolver.origin, Origin::Resolver { of, .. } if of.as_str() == "a"));
    assert!(resolver.ticket.depends_on.is_empty());
}

#[test]
fn a_resolver_that_fails_leaves_its_ticket_blocked() {
    let conflict = "a; b after a | open | a works, passes, conflicts";
    check(&format!("{conflict} | a-resolve fails"), "a blocked, b blocked, a-resolve failed (decision)");
    check_steps(&format!("{conflict} | a-resolve fails"), "/finish/1");
    // It is never split.
    check(
        &format!("{conflict} | a-resolve faults stuck, faults stuck, faults stuck"),
        "a blocked, b blocked, a-resolve failed (decision)",
    );
    check(
        &format!("{conflict} | a-resolve fails | retry a-resolve | a-resolve done"),
        "a merged, b ready, a-resolve merged",
    );
    check_steps(&format!("{conflict} | a-resolve fails | retry a"), "a/work/2 m1 fresh onto");
    check(&format!("{conflict} | retry a"), "a working, b blocked, a-resolve cancelled");
    check(&format!("{conflict} | cancel a"), "a cancelled, b blocked, a-resolve cancelled");
    check(&format!("{conflict} | cancel a-resolve"), "a blocked, b blocked, a-resolve cancelled");
}

#[test]
fn a_resolver_that_finds_nothing_lets_the_worker_go_on() {
    let nothing = "a | open | a works, passes, conflicts | a-resolve needs-nothing, passes";
    check(nothing, "a working, a-resolve no_change");
    check_steps(nothing, "a/work/2 m1 onto");
}

#[test]
fn a_conflict_of_a_resolver_is_for_a_person() {
    let conflict = "a | open | a works, passes, conflicts | a-resolve works, passes, conflicts";
    check(conflict, "a blocked, a-resolve needs_input (decision) | waiting");
    check(&format!("{conflict} | retry a-resolve | a-resolve done"), "a merged, a-resolve merged");
}

#[test]
fn conflicts_of_one_ticket_are_bounded() {
    let twice = "a | open | a works, passes, conflicts | a-resolve needs-nothing, passes \
                 | a works, passes, conflicts | a-resolve-2 needs-nothing, passes";
    check(
        &format!("{twice} | a works, passes, conflicts"),
        "a needs_input (decision), a-resolve no_change, a-resolve-2 no_change | waiting",
    );
}

#[test]
fn ids_of_resolvers_are_free() {
    check(
        "a; A-resolve | open | a works, passes, conflicts",
        "a blocked, A-resolve ready, a-resolve-2 ready",
    );
}

#[test]
fn red_together_is_mended_upon_the_target() {
    check("a; b | open | b done | a works, passes, clashes b", "a rework, b merged");
    check_steps("a; b | open | b done | a works, passes, clashes b", "a/work/2 m1 onto");
    check_why("a; b | open | b done | a works, passes, clashes b", "a", "red_together");
    check_steps("a | open | a works, passes, clashes, works, passes, clashes", "a/work/3 m2 fresh onto");
    // An attempt that failed on its way leaves the move to the next one.
    check_steps("a | open | a works, passes, clashes, faults transport", "a/work/3 m1 onto in 2s");
    check("a | open | a works, passes, clashes, done", "a merged");
    // It waits for a place like any other.
    check_steps("a; b; concurrency 1 | open | a works, passes | b starts | a clashes", "b/work/1* m1");
}

#[test]
fn git_has_the_last_word() {
    check("a; b after a | open | a works, passes, integrates | cancel a | a landed", "a merged, b ready");
    check("a | open | a works, passes, integrates | abandon | a landed", "a merged | cancelled");
    check_refused("a | open | a works, passes | cancel a | a landed", "the step is over: a/integrate/0");
    check_refused(
        "a | open | a works, passes, integrates | cancel a | retry a | a landed",
        "the step is over: a/integrate/0",
    );
}

#[test]
fn a_merge_without_a_commit_counts() {
    check("a; b after a; in-place | open | a works, passes, integrates, landed", "a merged, b ready");
}
