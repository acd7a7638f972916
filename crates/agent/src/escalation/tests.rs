use chrono::TimeDelta;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

const KINDS: [FailureKind; 6] = [
    FailureKind::Transport,
    FailureKind::RateLimited,
    FailureKind::ContextExceeded,
    FailureKind::Unauthorized,
    FailureKind::UnknownModel,
    FailureKind::Rejected,
];

/// Failures in a row, a word each, with `+30` for a retry-after of so many seconds; and what is done
/// about each, with the model that is tried next.
#[track_caller]
fn check(models: usize, start: usize, failures: &str, expected: &str) {
    let mut escalation = Escalation::new(models, start);
    let mut done = vec![format!("{}", escalation.current())];
    for word in failures.split_whitespace() {
        let (kind, wait) = word.split_once('+').map_or((word, None), |(kind, wait)| (kind, Some(wait)));
        let kind = match kind {
            "transport" => FailureKind::Transport,
            "limited" => FailureKind::RateLimited,
            "context" => FailureKind::ContextExceeded,
            "key" => FailureKind::Unauthorized,
            "model" => FailureKind::UnknownModel,
            "rejected" => FailureKind::Rejected,
            other => panic!("{other} is not a failure"),
        };
        let wait = wait.map(|wait| Duration::from_secs(wait.parse().expect("seconds")));
        done.push(match escalation.on_failure(kind, wait) {
            NextAttempt::Retry(times) => format!("retry{times}"),
            NextAttempt::MoveOn => escalation.current().to_string(),
            NextAttempt::Wait(wait) => format!("wait{}", wait.as_secs()),
            NextAttempt::GiveUp => "give-up".to_owned(),
        });
    }
    assert_eq!(done.join(" "), expected, "{failures}");
}

#[test]
fn a_fault_on_the_way_is_retried_twice_and_then_left_behind() {
    check(2, 0, "transport transport transport", "0 retry1 retry2 1");
    check(
        2,
        0,
        "transport transport transport transport transport transport",
        "0 retry1 retry2 1 retry1 retry2 give-up",
    );
    check(1, 0, "transport transport transport", "0 retry1 retry2 give-up");
    // Neither does the fault's own retry-after keep it with a model that is not the last.
    check(2, 0, "transport+5 transport+5 transport+5", "0 retry1 retry2 1");
}

#[test]
fn a_request_that_is_not_taken_moves_on_at_once() {
    for kind in ["limited", "limited+5", "context", "key", "model", "rejected"] {
        check(3, 0, &format!("{kind} {kind}"), "0 1 2");
        check(2, 0, &format!("transport {kind} transport transport"), "0 retry1 1 retry1 retry2");
    }
    for kind in
        ["limited", "context", "key", "model", "rejected", "context+5", "key+5", "model+5", "rejected+5"]
    {
        check(1, 0, kind, "0 give-up");
        check(2, 1, &format!("{kind} {kind}"), "1 0 give-up");
    }
}

#[test]
fn only_the_last_is_waited_for() {
    check(2, 0, "limited+30 limited+30", "0 1 wait30");
    check(1, 0, "limited+0", "0 wait0");
    check(1, 0, "limited+120", "0 wait120");
    check(1, 0, "limited+121", "0 give-up");
    check(1, 0, "limited+1 limited+2 limited+3 limited+4", "0 wait1 wait2 wait3 give-up");
    check(1, 0, "transport+9 transport+9 transport+9 transport", "0 retry1 retry2 wait9 retry1");
    check(1, 0, "limited+1 rejected", "0 wait1 give-up");
}

#[test]
fn it_begins_with_the_given_model() {
    check(3, 1, "rejected rejected rejected", "1 2 0 give-up");
    check(3, 2, "rejected rejected rejected", "2 0 1 give-up");
    check(3, 9, "rejected", "2 0");
    check(0, 0, "rejected", "0 give-up");
}

#[test]
fn waiting_doubles_and_is_spread() {
    let check = |retry, jitter, expected| assert_eq!(backoff(retry, jitter), Duration::from_millis(expected));
    check(1, 0.0, 200);
    check(1, 0.5, 300);
    check(1, 1.0, 400);
    check(2, 0.0, 400);
    check(2, 1.0, 800);
    check(3, 1.0, 1_600);
    check(0, 1.0, 400);
    check(1, -3.0, 200);
    check(1, 7.0, 400);
    check(u32::MAX, 1.0, 25_600);
}

#[test]
fn the_model_that_answered_is_kept_for_a_while() {
    let models: Vec<ModelRef> = ["a/m", "b/m", "c/m/n"].map(|model| model.parse().expect("a model")).into();
    let now = DateTime::UNIX_EPOCH + TimeDelta::days(9);
    let check = |model: &str, seconds_ago: i64, expected: usize| {
        let model: ModelRef = model.parse().expect("a model");
        let answered = Some((&model, now - TimeDelta::seconds(seconds_ago)));
        let at = cooled_down(&models, answered, now, Duration::from_secs(60));
        assert_eq!(at, expected, "{model}, {seconds_ago} seconds ago");
    };
    check("a/m", 1, 0);
    check("b/m", 0, 1);
    check("b/m", 1, 1);
    check("b/m", 59, 1);
    check("c/m/n", 59, 2);
    // Long enough ago that the first may be well again.
    check("b/m", 60, 0);
    check("c/m/n", 86_400, 0);
    // No longer among the choices, or the same model of another provider.
    check("b/n", 1, 0);
    check("d/m", 1, 0);
    // A clock that was set back.
    check("b/m", -1, 0);
    assert_eq!(cooled_down(&models, None, now, Duration::from_secs(60)), 0);
    assert_eq!(cooled_down(&[], Some((&models[1], now)), now, Duration::from_secs(60)), 0);
    assert_eq!(cooled_down(&models, Some((&models[1], now)), now, Duration::ZERO), 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6573),
        ..ProptestConfig::default()
    })]

    #[test]
    fn it_always_comes_to_an_end(
        models in 0..5_usize,
        start in 0..5_usize,
        failures in prop::collection::vec((prop::sample::select(&KINDS), prop::option::of(0..200_u64)), 100),
    ) {
        let mut escalation = Escalation::new(models, start);
        let (mut moved, mut gave_up) = (0, false);
        for (kind, seconds) in failures {
            let at = escalation.current();
            let is_last = moved + 1 >= models;
            let retry_after = seconds.map(Duration::from_secs);
            match escalation.on_failure(kind, retry_after) {
                NextAttempt::Retry(times) => {
                    prop_assert!(kind.is_transport() && times <= RETRIES);
                    prop_assert_eq!(escalation.current(), at);
                }
                NextAttempt::MoveOn => {
                    prop_assert!(!is_last);
                    prop_assert_eq!(escalation.current(), (at + 1) % models);
                    moved += 1;
                }
                NextAttempt::Wait(wait) => {
                    prop_assert!(is_last && Some(wait) == retry_after && wait <= LONGEST_WAIT);
                    prop_assert_eq!(escalation.current(), at);
                }
                NextAttempt::GiveUp => {
                    prop_assert!(is_last);
                    gave_up = true;
                    break;
                }
            }
        }
        // At most three attempts each, and those after the waits.
        prop_assert!(gave_up);
    }
}
