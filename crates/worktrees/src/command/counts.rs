//! Counts of tests in the output of runners that we know.

use serde::{Deserialize, Serialize};

/// How many tests a runner reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl TestCounts {
    /// The tests that ran.
    pub fn ran(&self) -> u64 {
        self.passed + self.failed
    }
}

/// Sums the counts that lines report.
#[derive(Debug, Default)]
pub(super) struct Counting {
    sum: Option<TestCounts>,
    /// Results of single tests of Go, which has no line with a sum.
    single: Option<TestCounts>,
}

impl Counting {
    pub(super) fn line(&mut self, line: &str) {
        let plain = without_escapes(line);
        let line = plain.trim();
        if let Some(counts) = summary(line) {
            let sum = self.sum.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.skipped += counts.skipped;
        } else if let Some(single) = line.strip_prefix("--- ") {
            let counts = self.single.get_or_insert_default();
            match single.split(':').next() {
                Some("PASS") => counts.passed += 1,
                Some("FAIL") => counts.failed += 1,
                Some("SKIP") => counts.skipped += 1,
                _ => {}
            }
        } else if let Some(counts) = tap(line) {
            let sum = self.sum.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.skipped += counts.skipped;
        }
    }

    pub(super) fn finish(self) -> Option<TestCounts> {
        self.sum.or(self.single)
    }
}

/// A line with a sum: cargo, pytest, Jest, Vitest, Maven.
fn summary(line: &str) -> Option<TestCounts> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(numbered(rest));
    }
    if let Some(rest) = line.strip_prefix("Tests run: ") {
        return Some(maven(rest));
    }
    if let Some(rest) = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  ")) {
        let counts = numbered(rest);
        return (counts != TestCounts::default()).then_some(counts);
    }
    // `=== 3 passed, 1 failed in 0.12s ===`, or the same without the bars.
    let bare = line.trim_matches('=').trim();
    let (counts, time) = bare.rsplit_once(" in ")?;
    let is_time = time.split(['s', ' ']).next()?.parse::<f64>().is_ok();
    let is_count = counts.split(' ').next()?.parse::<u64>().is_ok();
    let counts = numbered(counts);
    (is_time && is_count && counts != TestCounts::default()).then_some(counts)
}

/// `3 passed; 1 failed; 2 ignored`, in any order and with any separator.
fn numbered(text: &str) -> TestCounts {
    let mut counts = TestCounts::default();
    let words: Vec<&str> =
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2) {
        let Ok(number) = pair[0].parse::<u64>() else { continue };
        match pair[1] {
            "passed" => counts.passed += number,
            "failed" | "error" | "errors" => counts.failed += number,
            "ignored" | "skipped" | "todo" | "xfailed" | "pending" => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

/// `Tests run: 5, Failures: 1, Errors: 0, Skipped: 2`. Lines of single classes name their time as well.
fn maven(text: &str) -> TestCounts {
    if text.contains("Time elapsed") {
        return TestCounts::default();
    }
    let number = |name: &str| -> u64 {
        let rest = text.split_once(name).map_or("", |(_, rest)| rest);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().unwrap_or_default()
    };
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let all: u64 = text[..end].parse().unwrap_or_default();
    let failed = number("Failures: ") + number("Errors: ");
    let skipped = number("Skipped: ");
    TestCounts { passed: all.saturating_sub(failed + skipped), failed, skipped }
}

/// `# pass 3` of TAP (node --test, which also writes an `i` before), and `3 passing` of Mocha.
fn tap(line: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let (slot, number) = match words[..] {
        ["#" | "\u{2139}", "pass", number] => (&mut counts.passed, number),
        ["#" | "\u{2139}", "fail", number] => (&mut counts.failed, number),
        ["#" | "\u{2139}", "skipped" | "todo", number] => (&mut counts.skipped, number),
        [number, "passing"] | [number, "passing", _] => (&mut counts.passed, number),
        [number, "failing"] => (&mut counts.failed, number),
        [number, "pending"] => (&mut counts.skipped, number),
        _ => return None,
    };
    *slot = number.parse().ok()?;
    Some(counts)
}

/// A line without the escape sequences of terminals.
fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            // Up to the letter that ends the sequence.
            let _ = chars.find(char::is_ascii_alphabetic);
        }
    }
    plain
}

#[cfg(test)]
mod tests;
