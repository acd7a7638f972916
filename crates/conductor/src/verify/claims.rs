//! What a report claims to have been run, against what the transcript has.

use super::RanCommand;
use crate::submission::shown;
use crate::{CriterionStatus, Proof, Submission};

/// Commands that prove nothing about a result, however they end.
const LOOKING: [&str; 39] = [
    "[", "awk", "cat", "cd", "chmod", "cp", "curl", "date", "diff", "echo", "env", "export", "false", "file",
    "find", "git", "grep", "head", "less", "ls", "mkdir", "mv", "nl", "printf", "ps", "pwd", "rg", "rm",
    "sed", "sleep", "sort", "stat", "tail", "touch", "tree", "true", "wc", "which", "xargs",
];

/// Words that take the claim out of a sentence about tests.
const DOUBTS: [&str; 26] = [
    "not", "no", "never", "cannot", "can't", "couldn't", "could", "don't", "didn't", "doesn't", "won't",
    "wasn't", "weren't", "isn't", "should", "would", "will", "might", "may", "must", "unable", "fail",
    "fails", "failed", "failing", "until",
];

const TESTS: [&str; 14] = [
    "test",
    "tests",
    "tested",
    "testing",
    "suite",
    "suites",
    "spec",
    "specs",
    "check",
    "checks",
    "build",
    "builds",
    "ci",
    "unittests",
];

const PASSES: [&str; 10] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "green",
    "succeed",
    "succeeds",
    "succeeded",
    "success",
    "successfully",
];

/// The commands of a transcript.
pub(super) struct Transcript<'a> {
    ran: Vec<(Vec<String>, bool)>,
    check: Option<&'a str>,
}

impl<'a> Transcript<'a> {
    pub(super) fn new(ran: &[RanCommand], check: Option<&'a str>) -> Self {
        let ran = ran.iter().map(|it| (parts(&it.command), it.succeeded)).collect();
        Self { ran, check }
    }

    /// True if the command, alone or as a part of a longer one, succeeded when it was last run.
    pub(super) fn has_succeeded(&self, claimed: &str) -> bool {
        let claimed = parts(claimed);
        let has_it = |ran: &[String]| claimed.iter().all(|part| ran.contains(part));
        let last = self.ran.iter().rev().find(|(ran, _)| has_it(ran));
        !claimed.is_empty() && last.is_some_and(|(_, succeeded)| *succeeded)
    }

    /// True if a command succeeded that may have tested something: the check, or any that does more than
    /// look around.
    pub(super) fn may_have_tested(&self) -> bool {
        let check = self.check.map(parts).unwrap_or_default();
        let is_check = |ran: &[String]| !check.is_empty() && check.iter().all(|part| ran.contains(part));
        self.ran
            .iter()
            .any(|(ran, succeeded)| *succeeded && (is_check(ran) || !ran.iter().all(|it| looks(it))))
    }
}

/// The commands of a line of the shell, each with single spaces and without redirections.
fn parts(line: &str) -> Vec<String> {
    let line = line.trim().trim_matches('`').trim();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let split = line.replace("&&", "\n").replace("||", "\n").replace([';', '|'], "\n");
    split
        .lines()
        .map(|part| {
            let words = part.split_whitespace().filter(|word| !is_redirection(word));
            words.collect::<Vec<&str>>().join(" ")
        })
        .filter(|part| !part.is_empty())
        .collect()
}

fn is_redirection(word: &str) -> bool {
    matches!(word, "2>&1" | "&>/dev/null" | ">/dev/null" | "2>/dev/null")
}

/// True if a command only looks around or moves files.
fn looks(part: &str) -> bool {
    let mut words = part.split_whitespace();
    // Variables come before the program.
    let program = words.find(|word| !word.split_once('=').is_some_and(|(name, _)| is_variable(name)));
    program.is_none_or(|program| LOOKING.contains(&program.rsplit('/').next().unwrap_or(program)))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The first words of a report that say that tests pass.
pub(super) fn claim_of_passing(submission: &Submission) -> Option<String> {
    let tests = submission.criteria.iter().filter(|it| it.status == CriterionStatus::Met);
    let tests = tests.filter_map(|it| match &it.evidence {
        Some(Proof::Test { name }) => Some(name.as_str()),
        _ => None,
    });
    let claim = sentences(&submission.summary).find(|text| says_that_tests_pass(text));
    claim.or_else(|| tests.into_iter().next()).map(|claim| shown(claim.trim()))
}

/// Sentences, roughly. A dot inside of a word ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ';', '!', '?']).flat_map(|line| line.split(". "))
}

fn says_that_tests_pass(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    has(&TESTS) && has(&PASSES) && !has(&DOUBTS)
}

#[cfg(test)]
mod tests;
