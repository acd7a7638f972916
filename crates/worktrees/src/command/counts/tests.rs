use super::{Counting, TestCounts};

/// Passed, failed and skipped.
fn counted(text: &str) -> Option<(u64, u64, u64)> {
    let mut counting = Counting::default();
    text.lines().for_each(|line| counting.line(line));
    counting.finish().map(|TestCounts { passed, failed, skipped }| (passed, failed, skipped))
}

#[test]
fn each_runner_is_read() {
    let cases = [
        (
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.00s\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            Some((4, 2, 1)),
        ),
        ("===== 1 failed, 12 passed, 2 skipped in 0.34s =====", Some((12, 1, 2))),
        ("3 passed in 0.01s", Some((3, 0, 0))),
        ("\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m", Some((3, 0, 0))),
        ("Tests:       1 failed, 2 skipped, 5 passed, 8 total", Some((5, 1, 2))),
        ("      Tests  2 failed | 9 passed (11)", Some((9, 2, 0))),
        (
            "--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\n--- FAIL: TestB\n--- SKIP: TestC",
            Some((2, 1, 1)),
        ),
        (
            "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n\
             Tests run: 5, Failures: 1, Errors: 1, Skipped: 1",
            Some((2, 2, 1)),
        ),
        ("# tests 3\n# pass 2\n# fail 1\n# skipped 0", Some((2, 1, 0))),
        ("  4 passing (12ms)\n  1 pending\n  1 failing", Some((4, 1, 1))),
    ];
    for (text, expected) in cases {
        assert_eq!(counted(text), expected, "{text}");
    }
}

#[test]
fn prose_has_no_counts() {
    for text in ["", "all tests pass", "built 3 crates in 0.5s", "Tests: none", "3 passed", "-- PASS"] {
        assert_eq!(counted(text), None, "{text}");
    }
}
