//! The judgement: facts against the report.

use super::claims::{Transcript, claim_of_passing};
use super::{CheckRun, Facts, Objection, Ruling, Verdict};
use crate::limits::PATHS;
use crate::{CriterionReport, CriterionStatus, Outcome, Proof, Submission};

/// Judges a submission. What the worker says counts only where the facts bear it out.
///
/// A configured check that was not run is no pass: the result is unverified.
pub fn judge(facts: &Facts, submission: &Submission) -> Verdict {
    let mut objections = Vec::new();
    judge_git(facts, submission, &mut objections);
    judge_checks(facts, submission, &mut objections);
    judge_tests(facts, submission, &mut objections);
    judge_claims(facts, submission, &mut objections);
    judge_criteria(facts, submission, &mut objections);
    let is_proven = facts.run.as_ref().is_some_and(CheckRun::is_green);
    let ruling = if objections.iter().any(Objection::rejects) {
        Ruling::Rejected
    } else if is_proven {
        Ruling::Accepted
    } else {
        Ruling::Unverified
    };
    Verdict { ruling, objections }
}

fn judge_git(facts: &Facts, submission: &Submission, objections: &mut Vec<Objection>) {
    let Some(git) = &facts.git else { return };
    let first = |paths: &[String]| paths.iter().take(PATHS).cloned().collect::<Vec<String>>();
    if !git.descends {
        objections.push(Objection::NotDescended { base: git.base.clone(), head: git.head.clone() });
    }
    if !git.dirty.is_empty() {
        objections.push(Objection::DirtyTree { paths: first(&git.dirty) });
    }
    match (submission.outcome, git.changed.is_empty()) {
        (Outcome::NoChange, false) => {
            objections.push(Objection::ChangedAnyway { paths: first(&git.changed) });
        }
        (Outcome::Done, true) => objections.push(Objection::NothingChanged),
        _ => {}
    }
    if !git.out_of_scope.is_empty() {
        let (paths, scope) = (first(&git.out_of_scope), first(&git.scope));
        objections.push(Objection::OutOfScope { paths, scope });
    }
}

fn judge_checks(facts: &Facts, submission: &Submission, objections: &mut Vec<Objection>) {
    let Some(run) = &facts.run else { return };
    if !run.is_green() {
        return objections.push(Objection::RedCheck { run: run.clone() });
    }
    if let Some(run) = facts.run_with_base_tests.as_ref().filter(|run| !run.is_green()) {
        let tests = facts.tests.changed.iter().take(PATHS).cloned().collect();
        let changed = &facts.tests.changed;
        let declared =
            !changed.is_empty() && changed.iter().all(|path| declares_file(submission, facts, path));
        objections.push(Objection::RedWithBaseTests { run: run.clone(), tests, declared });
    }
}

fn judge_tests(facts: &Facts, submission: &Submission, objections: &mut Vec<Objection>) {
    let tests = &facts.tests;
    let split = |tests: &[String]| -> (Vec<String>, Vec<String>) {
        tests.iter().cloned().partition(|test| submission.test_changes.iter().any(|it| names(&it.test, test)))
    };
    let (declared, hidden) = split(&tests.deleted);
    for (tests, declared) in [(hidden, false), (declared, true)] {
        if !tests.is_empty() {
            objections.push(Objection::TestsDeleted { tests, declared });
        }
    }
    let (declared, hidden) = split(&tests.skipped);
    for (tests, declared) in [(hidden, false), (declared, true)] {
        if !tests.is_empty() {
            objections.push(Objection::TestsSkipped { tests, declared });
        }
    }
    let named = (tests.deleted.len() + tests.skipped.len()) as u64;
    // Fewer tests than those that are known to be gone explain.
    if tests.base.saturating_sub(tests.head) > named {
        let declared = !submission.test_changes.is_empty();
        objections.push(Objection::FewerTests { base: tests.base, head: tests.head, declared });
    }
}

/// True if a declared change is about the test `path: name`: it has its name, its path or both.
fn names(declared: &str, test: &str) -> bool {
    let (path, name) = test.split_once(": ").unwrap_or((test, test));
    let declared = declared.trim();
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().trim_end_matches("()").to_owned();
    same_path(declared, path)
        || declared == test
        || last(declared) == last(name)
        || declared.strip_prefix(path).is_some_and(|rest| rest.starts_with(':') && last(rest) == last(name))
}

fn same_path(a: &str, b: &str) -> bool {
    a.trim_start_matches("./") == b.trim_start_matches("./")
}

/// True if the changes of a test file are declared: by its path, or by the name of a test of it that is
/// gone or skipped.
fn declares_file(submission: &Submission, facts: &Facts, path: &str) -> bool {
    let lost = || facts.tests.deleted.iter().chain(&facts.tests.skipped);
    submission.test_changes.iter().any(|change| {
        let declared = change.test.trim();
        let below = declared.strip_prefix(path).is_some_and(|rest| rest.starts_with(':'));
        let is_of_file = |test: &&String| test.split_once(": ").is_some_and(|(of, _)| of == path);
        same_path(declared, path) || below || lost().filter(is_of_file).any(|test| names(declared, test))
    })
}

fn judge_claims(facts: &Facts, submission: &Submission, objections: &mut Vec<Objection>) {
    let transcript = Transcript::new(&facts.ran, facts.check.as_deref());
    let proofs = submission.criteria.iter().filter_map(|it| match &it.evidence {
        Some(Proof::Check { command }) => Some(command),
        _ => None,
    });
    let mut commands: Vec<&String> = Vec::new();
    for command in submission.commands.iter().chain(proofs) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    for command in commands {
        if !transcript.has_succeeded(command) {
            objections.push(Objection::ClaimNotRun { command: command.clone() });
        }
    }
    if !transcript.may_have_tested()
        && let Some(claim) = claim_of_passing(submission)
    {
        objections.push(Objection::PassClaimedWithoutRun { claim });
    }
}

fn judge_criteria(facts: &Facts, submission: &Submission, objections: &mut Vec<Objection>) {
    for report in &submission.criteria {
        if let Some(Proof::Place { place }) = &report.evidence
            && !facts.places.contains(place)
        {
            objections.push(Objection::NoSuchPlace { place: place.clone() });
        }
    }
    // What is left is said to be left.
    if matches!(submission.outcome, Outcome::Partial | Outcome::Blocked) {
        return;
    }
    for criterion in &facts.criteria {
        let reports = submission.criteria.iter().filter(|it| is_about(&it.criterion, criterion));
        let reports: Vec<&CriterionReport> = reports.collect();
        let criterion = criterion.clone();
        if reports.is_empty() {
            objections.push(Objection::CriterionMissing { criterion });
        } else if reports.iter().any(|it| it.status != CriterionStatus::Met) {
            objections.push(Objection::CriterionNotMet { criterion });
        } else if reports.iter().all(|it| it.evidence.is_none()) {
            objections.push(Objection::NoProof { criterion });
        }
    }
}

/// True if a report is about a criterion: in its words, however they are set, or in a part of them.
fn is_about(reported: &str, criterion: &str) -> bool {
    /// The fewest letters of a part that can only mean this criterion.
    const PART: usize = 12;
    let (reported, criterion) = (fold(reported), fold(criterion));
    let is_part = |whole: &str, part: &str| part.len() >= PART && whole.contains(part);
    reported == criterion || is_part(&criterion, &reported) || is_part(&reported, &criterion)
}

/// Letters and digits alone, after a number or a mark of a list.
fn fold(text: &str) -> String {
    let text = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || "-*.) ".contains(c));
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;
