//! One round of review: shows the change to tier 4, and keeps the findings whose places exist.

use std::path::{Component, Path};

use agent::{ApprovalPolicy, DutyRole};
use conductor::{Command, Fault, Finding, Review, ReviewTask, ReviewVerdict};
use worktrees::{CommitId, Diff, DiffLimits};

use super::{Cast, Job, Matter};
use crate::Result;
use crate::conducting::duties::HandedIn;
use crate::conducting::ground::Ground;
use crate::conducting::observing::Watching;
use crate::conducting::opening::{self, ReviewMatter};
use crate::conducting::worker::{Assignment, Ended, drive};

/// Bytes of a file in which a cited line is looked for.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

pub(super) async fn take(
    job: &Job,
    matter: &Matter,
    task: &ReviewTask,
    cast: Cast,
) -> Result<Option<Command>> {
    let (ticket, round) = (matter.ticket.clone(), task.round);
    let place = job.place(matter).await?;
    let diff = change(job, matter, task).await?;
    let attempt = matter.progress.attempts.last();
    let shown = ReviewMatter {
        diff: diff.as_ref().map(|diff| diff.text.as_str()),
        check: attempt.and_then(|attempt| attempt.run.as_ref()),
        objections: attempt
            .and_then(|it| it.verdict.as_ref())
            .map(|it| it.objections.as_slice())
            .unwrap_or_default(),
        submission: attempt.and_then(|attempt| attempt.submission.as_ref()),
        open: &task.open,
        round,
    };
    let assignment = Assignment {
        session: cast.session,
        duty: matter.duty(job.log.id, DutyRole::Review),
        persona: cast.persona,
        model: cast.model,
        root: place.root.to_str().map(str::to_owned),
        policy: ApprovalPolicy::Read,
        message: opening::review(&matter.rules, &matter.progress.ticket, &shown),
    };
    let ended = drive(job, &assignment, &mut Watching::of_reader()).await?;
    Ok(match ended {
        Ended::HandedIn(HandedIn::Review(review)) => {
            let changed =
                |path: &str| diff.as_ref().is_some_and(|diff| diff.files.iter().any(|it| it.path == path));
            let places = |finding: &Finding| {
                changed(&finding.path) && finding.line == 0
                    || has_line(&place.root, &finding.path, finding.line)
            };
            match checked(review, places) {
                Ok(review) => Some(Command::Reviewed { ticket, round, review }),
                Err(fault) => Some(matter.failed(fault)),
            }
        }
        Ended::HandedIn(_) => Some(matter.failed(Fault::NoSubmission)),
        Ended::Fault(fault) => Some(matter.failed(fault)),
        Ended::Stopped => None,
    })
}

/// The change to look at: all of it, or what came after the round before. `None` without git.
async fn change(job: &Job, matter: &Matter, task: &ReviewTask) -> Result<Option<Diff>> {
    let Ground::Trees(trees) = &job.ground else { return Ok(None) };
    let commit = |text: Option<&String>| text.and_then(|text| CommitId::parse(text));
    let base = commit(matter.progress.base.as_ref());
    let Some((base, head)) = base.zip(commit(task.head.as_ref())) else { return Ok(None) };
    // On a newer base, what came since then would have the work of others in it.
    let from = match commit(task.since.as_ref()) {
        Some(since) if trees.worktrees.repository().is_ancestor(&base, &since).await? => since,
        _ => base,
    };
    Ok(Some(trees.worktrees.diff(&from, &head, DiffLimits::default()).await?))
}

/// The review without the findings whose places do not exist. Fails if it sends the result back for nothing
/// else.
fn checked(mut review: Review, exists: impl Fn(&Finding) -> bool) -> std::result::Result<Review, Fault> {
    let before = review.findings.len();
    review.findings.retain(exists);
    let dropped = before - review.findings.len();
    if dropped == 0 {
        return Ok(review);
    }
    if review.findings.is_empty() && review.verdict != ReviewVerdict::Pass {
        let message = format!("none of the {dropped} places that the review cites exists");
        return Err(Fault::Model { message });
    }
    let note =
        format!("({dropped} of {before} findings are left out: the places that they cite do not exist.)");
    review.summary = format!("{} {note}", review.summary).trim_start().to_owned();
    Ok(review)
}

/// True if a file below the root has a line.
pub(super) fn has_line(root: &Path, path: &str, line: u32) -> bool {
    let path = Path::new(path);
    if path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return false;
    }
    let path = root.join(path);
    let is_small = path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES);
    let lines = || std::fs::read(&path).map(|text| text.split(|byte| *byte == b'\n').count());
    is_small && line > 0 && lines().is_ok_and(|lines| line as usize <= lines)
}

#[cfg(test)]
mod tests {
    use conductor::FindingSeverity;

    use super::*;

    fn finding(path: &str, line: u32) -> Finding {
        Finding {
            path: path.to_owned(),
            line,
            scenario: "It fails.".to_owned(),
            severity: FindingSeverity::Major,
        }
    }

    #[test]
    fn a_place_is_a_line_of_a_file_below_the_root() {
        let root = tempfile::TempDir::new().expect("a directory");
        std::fs::write(root.path().join("a.rs"), "one\ntwo").expect("a file");
        let check =
            |path: &str, line, exists| assert_eq!(has_line(root.path(), path, line), exists, "{path}:{line}");
        check("a.rs", 2, true);
        check("./a.rs", 1, true);
        check("a.rs", 3, false);
        check("a.rs", 0, false);
        check("b.rs", 1, false);
        check("../a.rs", 1, false);
        check("/etc/passwd", 1, false);
    }

    #[test]
    fn findings_without_a_place_do_not_count() {
        let review = |verdict, findings| Review { verdict, summary: "Hm.".to_owned(), findings };
        let exists = |finding: &Finding| finding.line == 1;
        let both = vec![finding("a", 1), finding("a", 2)];
        let kept = checked(review(ReviewVerdict::Rework, both), exists).expect("it counts");
        assert_eq!(kept.findings.len(), 1);
        assert!(kept.summary.contains("1 of 2"), "{}", kept.summary);
        let gone = checked(review(ReviewVerdict::Rework, vec![finding("a", 2)]), exists);
        assert!(matches!(gone, Err(Fault::Model { .. })));
        let passed = checked(review(ReviewVerdict::Pass, vec![finding("a", 2)]), exists).expect("it counts");
        assert!(passed.findings.is_empty());
    }
}
