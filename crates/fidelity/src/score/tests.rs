use serde_json::json;

use super::{Count, cell_state, rule, score, wilson};
use crate::{CellState, ExpectationResult};

/// Results from words: `held`, `broken*2` for a weight, `!` for must, `?` for one that may be untested, `~` for
/// one of a judge about its own model.
fn results(script: &str) -> Vec<ExpectationResult> {
    let read = |word: &str| {
        let (self_judged, word) = word.strip_prefix('~').map_or((false, word), |rest| (true, rest));
        let (must, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
        let (untested, word) = word.strip_prefix('?').map_or((false, word), |rest| (true, rest));
        let (verdict, weight) = word.split_once('*').unwrap_or((word, "1"));
        serde_json::from_value(json!({
            "name": word, "check": "holds", "verdict": verdict, "weight": weight.parse::<f64>().expect("valid"),
            "must": must, "untested": untested, "self_judged": self_judged,
        }))
        .expect("valid")
    };
    script.split_whitespace().map(read).collect()
}

#[track_caller]
fn check(script: &str, expected_score: Option<f64>, coverage: f64, state: CellState) {
    let results = results(script);
    let found = score(&results);
    assert_eq!((found.score, found.coverage), (expected_score, coverage), "{script}");
    assert_eq!(cell_state(&results, 0.8), state, "{script}");
}

#[test]
fn cells_are_scored_over_what_is_decided() {
    use CellState::{Failed, Passed, Unjudged};
    check("held held", Some(1.0), 1.0, Passed);
    check("held broken", Some(0.5), 1.0, Failed);
    check("held*4 broken", Some(0.8), 1.0, Passed);
    check("held*9 !broken", Some(0.9), 1.0, Failed);
    // A reply that gives no occasion breaks what must show.
    check("held not_shown", Some(0.5), 1.0, Failed);
    check("held ?not_shown", Some(1.0), 1.0, Passed);
    // A missing verdict is never a pass, and fails only what it could not save.
    check("held unjudged", Some(1.0), 0.5, Unjudged);
    check("held*9 unjudged", Some(1.0), 0.9, Unjudged);
    check("broken unjudged", Some(0.0), 0.5, Failed);
    check("unjudged", None, 0.0, Unjudged);
    check("?not_shown", None, 0.0, Unjudged);
    check("", None, 0.0, Unjudged);
    check("!unjudged held", Some(1.0), 0.5, Unjudged);
}

#[test]
fn verdicts_of_a_judge_about_its_own_model_do_not_gate() {
    use CellState::{Failed, Passed, Unjudged};
    let check = |script: &str, state: CellState, advisory: bool| {
        let found = rule(&results(script), 0.8);
        assert_eq!((found.state, found.advisory), (state, advisory), "{script}");
    };
    check("held broken", Failed, false);
    check("held ~held", Passed, false);
    // They fail or lack a verdict where the rest passes.
    check("held ~broken", Failed, true);
    check("held ~!broken", Failed, true);
    check("held ~unjudged", Unjudged, true);
    // Nothing else speaks.
    check("~broken", Failed, true);
    check("~held", Passed, true);
    check("?not_shown ~broken", Failed, true);
    // They do not save what fails without them, nor give it a verdict.
    check("broken ~held*9", Failed, false);
    check("!broken ~broken", Failed, false);
    check("unjudged ~held*9", Unjudged, false);
}

#[test]
fn wilsons_interval_is_that_of_the_tables() {
    let near = |(low, high): (f64, f64), expected: (f64, f64)| {
        assert!((low - expected.0).abs() < 1e-3 && (high - expected.1).abs() < 1e-3, "{low} {high}");
    };
    near(wilson(Count::new(3, 3)), (0.4385, 1.0));
    near(wilson(Count::new(0, 3)), (0.0, 0.5615));
    near(wilson(Count::new(8, 10)), (0.4902, 0.9433));
    near(wilson(Count::default()), (0.0, 1.0));
}
