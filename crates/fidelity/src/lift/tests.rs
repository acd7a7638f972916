use serde_json::json;

use super::{Lift, NO_PERSONA, lift};
use crate::{Cell, CellState, ComparisonVerdict, ExpectationResult};

/// Cells from a script: inputs by blanks, samples by slashes, one letter for each expectation: `h` held, `b`
/// broken, `u` unjudged.
fn cells(script: &str) -> Vec<Cell> {
    let inputs = script.split_whitespace().enumerate();
    let samples = inputs.flat_map(|(input, samples)| {
        samples.split('/').zip(0..).map(move |(letters, sample)| cell(input, sample, letters))
    });
    samples.collect()
}

fn cell(input: usize, sample: u32, letters: &str) -> Cell {
    let verdict = |letter| match letter {
        'h' => "held",
        'b' => "broken",
        _ => "unjudged",
    };
    let results = letters.chars().enumerate().map(|(at, letter)| {
        let name = format!("e{at}");
        let result = json!({ "name": name, "check": "holds", "verdict": verdict(letter) });
        serde_json::from_value::<ExpectationResult>(result).expect("valid")
    });
    let mut cell = Cell::waiting(format!("i{input}"), NO_PERSONA, sample);
    cell.decide(results.collect(), 0.8);
    cell
}

fn lifted(with: &str, without: &str) -> Lift {
    lift(&cells(with), &cells(without))
}

#[test]
fn the_lift_is_paired_by_input() {
    let lift = lifted("hh hh hb hh hh hh", "bb hb bb bb hb bb");
    let deltas: Vec<f64> = lift.inputs.iter().filter_map(|input| input.delta).collect();
    assert_eq!(deltas, [1.0, 0.5, 0.5, 1.0, 0.5, 1.0]);
    assert_eq!((lift.delta, lift.compared), (Some(0.75), 6));
    let (low, high) = lift.interval.expect("six inputs");
    assert!(low > 0.4 && high < 1.1, "{low} {high}");
    assert_eq!(lift.verdict, ComparisonVerdict::Improved);
}

#[test]
fn a_persona_that_does_no_more_than_its_model_has_no_lift() {
    let same = lifted("hb hb hb hb hb hb", "hb hb hb hb hb hb");
    assert_eq!((same.verdict, same.delta), (ComparisonVerdict::NoWorse, Some(0.0)));
    let worse = lifted("bb bb bb bb bb bb", "hh hh hh hh hh hh");
    assert_eq!(worse.verdict, ComparisonVerdict::Regressed);
    // Samples of one input count once, and few inputs never tell.
    let few = lifted("h/h/h/h h", "b/b/b/b b");
    assert_eq!((few.verdict, few.compared, few.inputs_needed), (ComparisonVerdict::CannotTell, 2, Some(5)));
    let none = lifted("u", "u");
    assert_eq!((none.verdict, none.delta, none.inputs_needed), (ComparisonVerdict::CannotTell, None, None));
}

#[test]
fn an_expectation_that_holds_as_often_without_the_persona_does_not_discriminate() {
    let lift = lifted("hhu/hbu", "bhu/bbu");
    let found: Vec<_> = lift.expectations.iter().map(|it| (it.name.as_str(), it.discriminates)).collect();
    assert_eq!(found, [("e0", Some(true)), ("e1", Some(false)), ("e2", None)]);
    let first = &lift.expectations[0];
    assert_eq!((first.with.yes, first.without.yes, first.delta), (2, 0, Some(1.0)));
    assert!(first.p > 0.05, "two samples prove nothing: {}", first.p);
    assert!(first.with_interval.0 > 0.3 && first.without_interval.1 < 0.7, "{first:?}");
    assert_eq!(lift.expectations[1].p, 1.0);
}

#[test]
fn a_side_that_could_not_be_run_has_no_lift() {
    let with = cells("h h");
    let mut without = cells("b b");
    without[0] = Cell { state: CellState::Error, ..Cell::waiting("i0", NO_PERSONA, 0) };
    let lift = lift(&with, &without);
    assert_eq!((lift.compared, lift.inputs[0].delta), (1, None));
    assert_eq!((lift.inputs[0].without_coverage, lift.inputs[1].without_coverage), (0.0, 1.0));
}
