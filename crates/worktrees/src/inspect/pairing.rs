//! The tests of the base, paired with those of the head.

use std::collections::HashMap;

use super::scan::Test;
use super::{TestFacts, TestTally};
use crate::limits;

/// The tests of changed files.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    /// As the base names it.
    path: String,
    base: Vec<Test>,
    head: Vec<Test>,
}

impl Pairing {
    pub(super) fn add(&mut self, path: String, base: Vec<Test>, head: Vec<Test>) {
        self.files.push(File { path, base, head });
    }

    /// Pairs tests of the same name, first in the same file, then in any other: a test that moved is not
    /// deleted. Each test of the head is paired once.
    pub(super) fn facts(&self) -> TestFacts {
        let mut facts = TestFacts {
            base: tally(self.files.iter().flat_map(|file| &file.base)),
            head: tally(self.files.iter().flat_map(|file| &file.head)),
            ..TestFacts::default()
        };
        let mut here: HashMap<(usize, &str), Vec<&Test>> = HashMap::new();
        for (at, file) in self.files.iter().enumerate() {
            for test in file.head.iter().rev() {
                here.entry((at, &test.name)).or_default().push(test);
            }
        }
        let mut alone = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            for test in &file.base {
                match here.get_mut(&(at, test.name.as_str())).and_then(Vec::pop) {
                    Some(paired) => note_skip(&mut facts, &file.path, test, paired),
                    None => alone.push((file, test)),
                }
            }
        }
        let mut elsewhere: HashMap<&str, Vec<&Test>> = HashMap::new();
        for test in here.into_values().flatten() {
            elsewhere.entry(&test.name).or_default().push(test);
        }
        for (file, test) in alone {
            match elsewhere.get_mut(test.name.as_str()).and_then(Vec::pop) {
                Some(paired) => note_skip(&mut facts, &file.path, test, paired),
                None => note(&mut facts.deleted, &file.path, test),
            }
        }
        facts
    }
}

fn note_skip(facts: &mut TestFacts, path: &str, base: &Test, head: &Test) {
    if head.is_skipped && !base.is_skipped {
        note(&mut facts.skipped, path, base);
    }
}

fn note(list: &mut Vec<String>, path: &str, test: &Test) {
    if list.len() < limits::LISTED_TESTS {
        list.push(format!("{path}: {}", test.name));
    }
}

fn tally<'a>(tests: impl Iterator<Item = &'a Test>) -> TestTally {
    tests.fold(TestTally::default(), |tally, test| TestTally {
        tests: tally.tests + 1,
        skipped: tally.skipped + u64::from(test.is_skipped),
    })
}
