use super::{ComparisonVerdict, compare, flipped_musts};
use crate::statistics::t_interval;
use crate::{Cell, CellState, ExpectationResult, Verdict};

fn cell(input: usize, sample: u32, score: f64) -> Cell {
    Cell { score: Some(score), state: CellState::Passed, ..Cell::waiting(format!("i{input}"), "x", sample) }
}

/// Cells from scores: inputs by blanks, samples by slashes.
fn cells(script: &str) -> Vec<Cell> {
    let inputs = script.split_whitespace().enumerate();
    let samples = inputs.flat_map(|(input, samples)| {
        let scores = samples.split('/').zip(0..);
        scores.map(move |(score, sample)| cell(input, sample, score.parse().expect("valid")))
    });
    samples.collect()
}

#[track_caller]
fn check(a: &str, b: &str, verdict: ComparisonVerdict) {
    let compared = compare(&cells(a), &cells(b));
    assert_eq!(compared.verdict, verdict, "{}", compared.reason);
}

#[test]
fn verdicts_follow_the_interval_and_the_margin() {
    use ComparisonVerdict::{CannotTell, Improved, NoWorse, Regressed};
    check("1 1 1 1 1 1 1 1", "1 1 1 1 1 1 1 1", NoWorse);
    check("1 1 1 1 1 1 1 1", ".5 .6 .5 .7 .6 .5 .4 .6", Regressed);
    check(".5 .6 .5 .7 .6 .5 .4 .6", "1 1 1 1 1 1 1 1", Improved);
    check("1 .5 1 .5 1 .5 1 .5", ".5 1 .5 1 .5 1 .5 .8", CannotTell);
    // Every input by the same amount: no variance, so signs decide.
    check("1 1 1 1 1 1", ".5 .5 .5 .5 .5 .5", Regressed);
    check("1 1 1 1 1", ".5 .5 .5 .5 .5", CannotTell);
    check(".5 .5 .5 .5 .5 .5", "1 1 1 1 1 1", Improved);
    // Significant, but smaller than the margin.
    check("1 1 1 1 1 1", ".99 .98 .99 .98 .99 .98", NoWorse);
    // Samples of one input count once.
    check("1/1/1 1/1/1 1/1/1", "0/0/0 0/0/0 0/0/0", CannotTell);
}

#[test]
fn fewer_than_five_inputs_never_give_a_statistical_verdict() {
    for count in 0..5 {
        let a = vec!["1"; count].join(" ");
        let b = vec!["0"; count].join(" ");
        let compared = compare(&cells(&a), &cells(&b));
        assert_eq!(compared.verdict, ComparisonVerdict::CannotTell);
        // Without a score there is nothing to go by.
        assert_eq!(compared.inputs_needed, (count > 0).then_some(5));
    }
}

#[test]
fn errors_are_not_scores() {
    let error = |input: usize| Cell { state: CellState::Error, score: None, ..cell(input, 0, 0.0) };
    let all: Vec<Cell> = (0..5).map(error).collect();
    let compared = compare(&all, &all);
    assert_eq!((compared.verdict, compared.compared), (ComparisonVerdict::CannotTell, 0));
    assert_eq!(compared.reason, "no input has a score on both sides");
    assert_eq!(compared.inputs_needed, None);
}

/// Cells with one judged expectation each: `h` held, `b` broken; capitals by an impartial judge.
fn judged(script: &str) -> Vec<Cell> {
    let cell = |(at, letter): (usize, char)| {
        let verdict = if letter.eq_ignore_ascii_case(&'h') { "held" } else { "broken" };
        let result = serde_json::from_value(serde_json::json!({
            "name": "Asks.", "check": "holds", "verdict": verdict, "self_judged": letter.is_lowercase(),
        }));
        let mut cell = cell(at, 0, 0.0);
        cell.decide(vec![result.expect("valid")], 0.8);
        cell
    };
    script.chars().enumerate().map(cell).collect()
}

#[test]
fn a_regression_by_advisory_verdicts_alone_does_not_gate() {
    let found = |a: &str, b: &str| {
        let compared = compare(&judged(a), &judged(b));
        (compared.verdict, compared.advisory, compared.is_failure())
    };
    assert_eq!(found("HHHHHH", "BBBBBB"), (ComparisonVerdict::Regressed, false, true));
    assert_eq!(found("hhhhhh", "bbbbbb"), (ComparisonVerdict::Regressed, true, false));
    // The firm inputs alone regress, whatever the others say.
    assert_eq!(found("HHHHHHbbbbbb", "BBBBBBhhhhhh"), (ComparisonVerdict::Regressed, false, true));
    assert_eq!(found("hhhhhh", "hhhhhh"), (ComparisonVerdict::NoWorse, false, false));
}

#[test]
fn one_that_cannot_tell_says_what_it_would_take() {
    let compared = compare(&cells("1 .5 1 .5 1 .5 1 .5"), &cells(".5 1 .5 1 .5 1 .5 .8"));
    assert!(compared.inputs_needed.expect("valid") > 100, "{compared:?}");
}

#[test]
fn inputs_without_a_score_on_both_sides_do_not_count() {
    let mut b = cells("1 1 1 1 1 1");
    b[0].score = None;
    let compared = compare(&cells("1 1 1 1 1 1"), &b);
    assert_eq!((compared.compared, compared.inputs.len()), (5, 6));
}

fn must(input: usize, sample: u32, verdict: Verdict) -> Cell {
    let result: ExpectationResult = serde_json::from_value(serde_json::json!({
        "name": "lacks \"x\"", "check": "lacks", "verdict": verdict, "must": true,
    }))
    .expect("valid");
    Cell { expectations: vec![result], ..cell(input, sample, f64::from(u8::from(verdict == Verdict::Held))) }
}

#[test]
fn a_flipped_must_counts_when_it_is_seen_twice() {
    use Verdict::{Broken, Held};
    let side = |verdicts: &[Verdict]| -> Vec<Cell> {
        verdicts.iter().zip(0..).map(|(verdict, sample)| must(0, sample, *verdict)).collect()
    };
    let a = side(&[Held, Held, Held]);
    let once = side(&[Held, Broken, Held]);
    assert_eq!(flipped_musts(&a, &once), ["i0"]);
    assert_eq!(compare(&a, &once).verdict, ComparisonVerdict::CannotTell);
    let twice = side(&[Held, Broken, Held, Broken, Held, Held]);
    assert_eq!(compare(&a, &twice).verdict, ComparisonVerdict::Regressed);
    // It broke before, too.
    assert!(flipped_musts(&once, &twice).is_empty());
    assert_eq!(compare(&once, &twice).verdict, ComparisonVerdict::CannotTell);
}

#[test]
fn expectations_are_corrected_for_their_number() {
    let side = |verdict: Verdict, inputs: usize| -> Vec<Cell> {
        let one = |input: usize| (0..6).map(move |sample| (input, sample));
        (0..inputs)
            .flat_map(one)
            .map(|(input, sample)| {
                let verdict = if input == 0 { verdict } else { Verdict::Held };
                let mut cell = must(input, sample, verdict);
                cell.expectations[0].must = false;
                cell
            })
            .collect()
    };
    let found = |inputs| {
        let compared = compare(&side(Verdict::Held, inputs), &side(Verdict::Broken, inputs));
        (compared.expectations[0].p, compared.expectations[0].verdict)
    };
    // 6 of 6 against 0 of 6: p 0.0022.
    assert_eq!(found(1).1, ComparisonVerdict::Regressed);
    assert_eq!(found(30).1, ComparisonVerdict::CannotTell);
    assert!((found(10).0 - 10.0 * found(1).0).abs() < 1e-9);
}

/// A small generator of random numbers, seeded.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// An unchanged persona, 8 inputs with 3 samples each: how often does each method see a difference?
#[test]
fn paired_t_seldom_sees_what_is_not_there() {
    const COMPARISONS: usize = 4_000;
    const INPUTS: usize = 8;
    const RESAMPLES: usize = 200;
    let mut random = Random(13);
    let (mut flips, mut bootstrap, mut paired, mut regressed) = (0, 0, 0, 0);
    for _ in 0..COMPARISONS {
        // Most inputs are answered well, some now and then.
        let chances: Vec<f64> = (0..INPUTS).map(|_| random.unit().powf(0.25)).collect();
        let mut side = || -> Vec<Cell> {
            let mut cells = Vec::new();
            for (input, chance) in chances.iter().enumerate() {
                for sample in 0..3 {
                    cells.push(cell(input, sample, f64::from(u8::from(random.unit() < *chance))));
                }
            }
            cells
        };
        let (a, b) = (side(), side());
        let compared = compare(&a, &b);
        let changes: Vec<(f64, f64)> =
            compared.inputs.iter().map(|input| (input.a.expect("valid"), input.b.expect("valid"))).collect();
        flips += usize::from(changes.iter().any(|(a, b)| (*a > 0.5) != (*b > 0.5)));
        let differences: Vec<f64> = changes.iter().map(|(a, b)| b - a).collect();
        let (low, high) = t_interval(&differences);
        paired += usize::from((low > 0.0 || high < 0.0) && low < high);
        regressed += usize::from(compared.verdict == ComparisonVerdict::Regressed);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let drawn = (0..INPUTS).map(|_| differences[(random.next() % INPUTS as u64) as usize]);
                drawn.sum::<f64>() / INPUTS as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let (low, high) = (means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]);
        bootstrap += usize::from(low > 1e-9 || high < -1e-9);
    }
    let share = |count: usize| count as f64 / COMPARISONS as f64;
    let figures = (share(flips), share(bootstrap), share(paired), share(regressed));
    assert!((0.6..0.9).contains(&figures.0), "{figures:?}");
    assert!((0.08..0.14).contains(&figures.1), "{figures:?}");
    assert!((0.03..0.075).contains(&figures.2), "{figures:?}");
    // A regression is half of them.
    assert!(figures.3 < 0.045, "{figures:?}");
}

/// A persona that breaks a third of what it did is found out.
#[test]
fn a_real_regression_is_seen() {
    let mut random = Random(7);
    let mut side = |chance: f64| -> Vec<Cell> {
        let all = (0..12).flat_map(|input| (0..5).map(move |sample| (input, sample)));
        all.map(|(input, sample)| cell(input, sample, f64::from(u8::from(random.unit() < chance)))).collect()
    };
    let seen = (0..200).filter(|_| compare(&side(0.95), &side(0.6)).verdict == ComparisonVerdict::Regressed);
    let seen = seen.count();
    assert!(seen > 180, "{seen} of 200");
}
