//! One attempt of a worker: opens or goes on with its session, and hands over what it hands in.

use agent::DutyRole;
use conductor::{Command, Fault, Origin, WorkTask};
use worktrees::{CommitId, Onto};

use super::{Cast, Job, Matter, Place};
use crate::Result;
use crate::conducting::duties::HandedIn;
use crate::conducting::ground::Ground;
use crate::conducting::observing::Watching;
use crate::conducting::opening;
use crate::conducting::worker::{Assignment, Ended, drive, is_sent};

pub(super) async fn take(
    job: &Job,
    matter: &mut Matter,
    task: &WorkTask,
    cast: Cast,
) -> Result<Option<Command>> {
    let (ticket, attempt) = (matter.ticket.clone(), task.attempt);
    let mut place = job.place(matter).await?;
    restore(job, matter, &place).await?;
    let Some(text) = message(job, matter, task).await? else { return Ok(None) };
    let mut assignment = Assignment {
        session: cast.session,
        duty: matter.duty(job.log.id, DutyRole::Work),
        persona: cast.persona,
        model: cast.model,
        root: place.root.to_str().map(str::to_owned),
        policy: job.runtime.conducting().policy(),
        message: text,
    };
    // A worker that has begun is not moved under its feet.
    if task.onto_target && !is_sent(&job.runtime, &assignment).await? {
        bring_onto_target(job, matter, &mut place).await?;
        let Some(text) = message(job, matter, task).await? else { return Ok(None) };
        assignment.message = text;
    }
    let mut watching = Watching::of_worker(job, matter, attempt, place.worktree.clone());
    let ended = drive(job, &assignment, &mut watching).await?;
    watching.checkpoint().await;
    Ok(match ended {
        Ended::HandedIn(HandedIn::Work(submission)) => {
            let head = head(job, matter, &place).await?;
            Some(Command::Submit { ticket, attempt, head, submission })
        }
        Ended::HandedIn(HandedIn::Question(question)) => Some(Command::Ask { ticket, attempt, question }),
        Ended::HandedIn(HandedIn::Blocked(reason)) => {
            Some(Command::ReportBlocked { ticket, attempt, reason })
        }
        Ended::HandedIn(_) => Some(matter.failed(Fault::NoSubmission)),
        Ended::Fault(fault) => Some(matter.failed(fault)),
        Ended::Stopped => None,
    })
}

/// Brings back what a checkpoint has and a worktree that was made again lacks.
async fn restore(job: &Job, matter: &Matter, place: &Place) -> Result<()> {
    let (Ground::Trees(trees), Some(worktree)) = (&job.ground, &place.worktree) else { return Ok(()) };
    let kept = matter.progress.attempts.iter().rev().find_map(|attempt| attempt.checkpoint.as_ref());
    let Some(kept) = kept.and_then(|(_, commit)| CommitId::parse(commit)) else { return Ok(()) };
    if worktree.opened() == worktrees::Opened::Recreated {
        trees.worktrees.restore(worktree, &kept).await?;
    }
    Ok(())
}

/// Brings a worktree, with what earlier attempts left in it, onto the head of the integration branch. With
/// conflicts it stays as it is: they are found again when the result is merged.
async fn bring_onto_target(job: &Job, matter: &mut Matter, place: &mut Place) -> Result<()> {
    head(job, matter, place).await?;
    let (Ground::Trees(trees), Some(worktree)) = (&job.ground, &mut place.worktree) else { return Ok(()) };
    let target = trees.target().await?;
    if let Onto::Conflicted { .. } = trees.worktrees.bring_onto(worktree, &target).await? {
        tracing::info!("the work conflicts with the target, and stays on its base");
    }
    matter.progress.base = Some(worktree.base().to_string());
    Ok(())
}

/// The commit of everything that the worker left in its worktree.
async fn head(job: &Job, matter: &Matter, place: &Place) -> Result<Option<String>> {
    let (Ground::Trees(trees), Some(worktree)) = (&job.ground, &place.worktree) else { return Ok(None) };
    let title = format!("{}: {}", matter.ticket, matter.progress.ticket.title);
    let head = trees.worktrees.commit(worktree, &title).await?;
    Ok(Some(head.to_string()))
}

/// The message that begins the attempt, or goes on with its session. `None` if there is no attempt. The
/// number of the attempt or of the answer makes its first line one of a kind, so that it is known whether it
/// was sent.
async fn message(job: &Job, matter: &Matter, task: &WorkTask) -> Result<Option<String>> {
    let Some(current) = matter.progress.attempts.last() else { return Ok(None) };
    if let Some(answer) = &task.answer {
        return Ok(Some(opening::answer(current.questions.len(), answer)));
    }
    if !current.fresh {
        return Ok(Some(match held_up(matter) {
            Some(fault) => opening::go_on(task.attempt, fault),
            None => opening::again(task.attempt, &reasons(matter)),
        }));
    }
    let handover = (task.attempt > 1).then(|| super::handover(&matter.progress));
    let is_isolated = matches!(job.ground, Ground::Trees(_));
    let mut text = opening::work(&matter.rules, &matter.progress.ticket, handover.as_deref(), is_isolated);
    if let (Origin::Resolver { of, .. }, Ground::Trees(trees)) = (&matter.progress.origin, &job.ground) {
        let resolved = job.log.look(|conduct| conduct.ticket(of)?.head().and_then(CommitId::parse)).await?;
        if let Some((base, head)) = trees.base_of(of).await?.zip(resolved) {
            let diff = trees.worktrees.diff(&base, &head, worktrees::DiffLimits::default()).await?;
            text.push_str(&opening::to_bring_in(of, &diff.text));
        }
    }
    Ok(Some(text))
}

/// The fault that ended the attempt before this one, if the worker has no part in it.
fn held_up(matter: &Matter) -> Option<&Fault> {
    let before = matter.progress.attempts.iter().rev().nth(1)?;
    before.fault.as_ref().filter(|fault| !fault.is_of_worker())
}

/// Why the attempt before this one did not suffice.
fn reasons(matter: &Matter) -> Vec<String> {
    let mut turns = matter.progress.turns.iter().rev();
    let told = turns.find(|turn| !turn.evidence.is_empty());
    told.map(|turn| turn.evidence.iter().map(super::wording::evidence).collect()).unwrap_or_default()
}
