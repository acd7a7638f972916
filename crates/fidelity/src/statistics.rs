//! Formulas for comparisons: paired t, the sign test, Fisher's test, Holm's correction.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// The probability that an interval leaves out on both sides together.
const ALPHA: f64 = 0.05;

/// The mean and the standard deviation of a sample.
pub(crate) fn moments(sample: &[f64]) -> (f64, f64) {
    let count = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / count;
    let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = if sample.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
    // Differences of scores are sums of fractions: what is left of rounding is no variance.
    (mean, if deviation < 1e-9 { 0.0 } else { deviation })
}

/// Student's quantile.
fn quantile(probability: f64, degrees: usize) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees.max(1) as f64) {
        Ok(distribution) => distribution.inverse_cdf(probability),
        // Only a negative scale fails.
        Err(_) => f64::INFINITY,
    }
}

/// The interval of 95 % for the mean of paired differences.
pub fn t_interval(differences: &[f64]) -> (f64, f64) {
    let (mean, deviation) = moments(differences);
    let error = deviation / (differences.len() as f64).sqrt();
    let half = if error == 0.0 { 0.0 } else { quantile(1.0 - ALPHA / 2.0, differences.len() - 1) * error };
    (mean - half, mean + half)
}

/// The bound that the mean of paired differences exceeds with 95 %.
pub fn t_lower_bound(differences: &[f64]) -> f64 {
    let (mean, deviation) = moments(differences);
    let error = deviation / (differences.len() as f64).sqrt();
    if error == 0.0 { mean } else { mean - quantile(1.0 - ALPHA, differences.len() - 1) * error }
}

/// The two-sided p of the exact sign test. Zeros do not count.
pub fn sign_test(differences: &[f64]) -> f64 {
    let up = differences.iter().filter(|value| **value > 0.0).count();
    let down = differences.iter().filter(|value| **value < 0.0).count();
    let (count, fewer) = (up + down, up.min(down));
    if count == 0 {
        return 1.0;
    }
    let tail: f64 = (0..=fewer).map(|at| binomial(count as u64, at as u64).exp()).sum();
    (2.0 * tail * 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX))).min(1.0)
}

/// The logarithm of n over k.
fn binomial(n: u64, k: u64) -> f64 {
    let log_factorial = |n: u64| (2..=n).map(|number| (number as f64).ln()).sum::<f64>();
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

/// The two-sided p of Fisher's exact test that two rates differ.
pub fn fisher(one: crate::Count, other: crate::Count) -> f64 {
    let (rows, yes) = ((one.of, other.of), one.yes + other.yes);
    let all = rows.0 + rows.1;
    if all == 0 {
        return 1.0;
    }
    let probability =
        |in_one: u64| (binomial(rows.0, in_one) + binomial(rows.1, yes - in_one) - binomial(all, yes)).exp();
    let (least, most) = (yes.saturating_sub(rows.1), yes.min(rows.0));
    let seen = probability(one.yes);
    let tail: f64 = (least..=most).map(probability).filter(|p| *p <= seen * (1.0 + 1e-9)).sum();
    tail.min(1.0)
}

/// Holm's correction: the same p-values, for as many tests as there are.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        highest = highest.max(p_values[at] * (p_values.len() - rank) as f64).min(1.0);
        corrected[at] = highest;
    }
    corrected
}

#[cfg(test)]
mod tests;
