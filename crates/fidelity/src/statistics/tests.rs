use super::{fisher, holm, sign_test, t_interval, t_lower_bound};
use crate::Count;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
}

#[test]
fn the_t_interval_is_the_one_of_the_tables() {
    // Mean 3, standard deviation 1.5811, n 5: half width 2.7764 * 0.7071.
    let (low, high) = t_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    near(low, 1.0368);
    near(high, 4.9632);
    // 2.1318 * 0.7071.
    near(t_lower_bound(&[1.0, 2.0, 3.0, 4.0, 5.0]), 1.4926);
    assert_eq!(t_interval(&[0.25; 6]), (0.25, 0.25));
}

#[test]
fn the_sign_test_is_exact() {
    near(sign_test(&[-1.0; 5]), 0.0625);
    near(sign_test(&[-1.0; 6]), 0.03125);
    near(sign_test(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0]), 0.0703);
    near(sign_test(&[0.0, 0.0, 0.0]), 1.0);
    near(sign_test(&[1.0, -1.0]), 1.0);
}

#[test]
fn fishers_test_is_that_of_the_tables() {
    near(fisher(Count::new(3, 3), Count::new(0, 3)), 0.1);
    near(fisher(Count::new(8, 10), Count::new(1, 10)), 0.0055);
    near(fisher(Count::new(5, 5), Count::new(5, 5)), 1.0);
    near(fisher(Count::default(), Count::default()), 1.0);
}

#[test]
fn holm_never_makes_a_later_test_surer() {
    let corrected = holm(&[0.04, 0.01, 0.03]);
    near(corrected[1], 0.03);
    near(corrected[2], 0.06);
    near(corrected[0], 0.06);
    assert!(holm(&[]).is_empty());
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
}
