//! Gathers the facts about what was handed in, and judges it by them.

use std::collections::BTreeSet;

use conductor::{
    CheckRun, Command, CriterionReport, Facts, GitFacts, Proof, Scope, Submission, TestFacts, judge,
    parse_place,
};
use worktrees::{Beat, Check, CommitId, TestsFrom, Ticket, Verified, Worktree};

use super::review::has_line;
use super::{Job, Matter, Place, check_run};
use crate::conducting::ground::{Ground, Trees};
use crate::conducting::tool_calls::commands;
use crate::{Result, TrackError};

/// What the conductor's own runs of a check showed.
#[derive(Debug, Default)]
struct Runs {
    head: Option<CheckRun>,
    with_base_tests: Option<CheckRun>,
    /// Test files of the base that the head changes or lacks.
    changed_tests: Vec<String>,
}

pub(super) async fn take(
    job: &Job,
    matter: &Matter,
    attempt: u32,
    head: Option<&str>,
) -> Result<Option<Command>> {
    let ticket = matter.ticket.clone();
    let Some(current) = matter.progress.attempts.iter().find(|it| it.number == attempt) else {
        return Ok(None);
    };
    let Some(submission) = &current.submission else { return Ok(None) };
    let place = job.place(matter).await?;
    let turns = job.runtime.session(current.session).await?.turns;
    let mut facts = Facts {
        check: matter.check.clone(),
        ran: commands(&turns, matter.check.as_deref()),
        places: places(&place, submission),
        criteria: matter.progress.ticket.acceptance.clone(),
        ..Facts::default()
    };
    let runs = match (&job.ground, &place.worktree) {
        (Ground::Trees(trees), Some(worktree)) => {
            let at = commits(matter, head)?;
            (facts.git, facts.tests) = look(trees, worktree, &at, &matter.scope).await?;
            match run_checks(trees, matter, &at).await? {
                Ok(runs) => runs,
                Err(fault) => return Ok(Some(fault)),
            }
        }
        _ => match &matter.check {
            Some(line) => Runs { head: Some(job.check_project(&place.root, line).await?), ..Runs::default() },
            None => Runs::default(),
        },
    };
    facts.tests.changed = runs.changed_tests;
    facts.run = runs.head;
    facts.run_with_base_tests = runs.with_base_tests;
    let verdict = judge(&facts, submission);
    Ok(Some(Command::Verified { ticket, attempt, verdict, run: facts.run }))
}

fn commits(matter: &Matter, head: Option<&str>) -> Result<Ticket> {
    let commit = |text: Option<&str>| text.and_then(CommitId::parse);
    let (Some(base), Some(head)) = (commit(matter.progress.base.as_deref()), commit(head)) else {
        return Err(TrackError::NoCommit { ticket: matter.ticket.clone() }.into());
    };
    Ok(Ticket { label: Trees::ticket(&matter.ticket), base, head })
}

/// What git shows between base and head.
async fn look(
    trees: &Trees,
    worktree: &Worktree,
    at: &Ticket,
    scope: &[String],
) -> Result<(Option<GitFacts>, TestFacts)> {
    let found = trees.worktrees.inspect(&at.base, &at.head, Some(worktree.tree())).await?;
    let changed: Vec<String> = found.paths().map(str::to_owned).collect();
    // The track was checked: its globs are well-formed.
    let mut out_of_scope = Scope::new(scope)
        .map_or_else(|_| changed.clone(), |globs| globs.outside(changed.iter().map(String::as_str)));
    if found.changes_left_out > 0 && !scope.is_empty() {
        // Nobody has looked at them.
        out_of_scope.push(format!("{} paths that are not listed", found.changes_left_out));
    }
    let tests = TestFacts {
        base: found.tests.base.ran(),
        head: found.tests.head.ran(),
        deleted: found.tests.deleted,
        skipped: found.tests.skipped,
        changed: Vec::new(),
    };
    let git = GitFacts {
        base: found.base.to_string(),
        head: found.head.to_string(),
        descends: found.descends,
        dirty: found.uncommitted,
        changed,
        scope: scope.to_vec(),
        out_of_scope,
    };
    Ok((Some(git), tests))
}

/// Runs the check on the head, and with the base's tests where they differ. `Err`: its setup failed.
async fn run_checks(
    trees: &Trees,
    matter: &Matter,
    at: &Ticket,
) -> Result<std::result::Result<Runs, Command>> {
    let Some(line) = &matter.check else { return Ok(Ok(Runs::default())) };
    let check = trees.check(&matter.rules, line);
    let verify = async |check: &Check, tests| {
        trees.worktrees.verify(&trees.track, at, check, tests, &|_: Beat| {}).await
    };
    let head = verify(&check, TestsFrom::Head).await?;
    if let Some(fault) = head.setup.as_ref().and_then(|setup| super::prepare::red_setup(matter, setup)) {
        return Ok(Err(matter.failed(fault)));
    }
    let run = |verified: &Verified| verified.outcome.as_ref().map(|outcome| check_run(line, outcome));
    let mut runs = Runs { head: run(&head), ..Runs::default() };
    if runs.head.as_ref().is_some_and(CheckRun::is_green) {
        let with_base = verify(&check, TestsFrom::Base).await?;
        let changed = with_base.restored.iter().filter(|path| !head.restored.contains(path));
        runs.changed_tests = changed.cloned().collect();
        if !runs.changed_tests.is_empty() {
            runs.with_base_tests = run(&with_base);
        }
    }
    Ok(Ok(runs))
}

/// The places of a report that exist.
fn places(place: &Place, submission: &Submission) -> BTreeSet<String> {
    let named = |report: &CriterionReport| match &report.evidence {
        Some(Proof::Place { place }) => Some(place.clone()),
        _ => None,
    };
    let exists =
        |text: &String| parse_place(text).is_some_and(|(path, line)| has_line(&place.root, path, line));
    submission.criteria.iter().filter_map(named).filter(exists).collect()
}
