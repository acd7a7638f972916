//! Brings a ticket into the track's integration branch, after a check of exactly the tree that results.

use conductor::{Command, TicketId};
use worktrees::{Beat, CommitId, Integrated, Label};

use super::{Job, Matter, check_run};
use crate::conducting::ground::{Ground, Trees};
use crate::{Result, TrackError};

pub(super) async fn take(job: &Job, matter: &Matter, head: Option<&str>) -> Result<Option<Command>> {
    let ticket = matter.ticket.clone();
    let Ground::Trees(trees) = &job.ground else {
        // The changes are where they belong.
        return Ok(Some(Command::Integrated { ticket, commit: None }));
    };
    let commit = |text: Option<&str>| text.and_then(CommitId::parse);
    let (Some(head), Some(base)) = (commit(head), commit(matter.progress.base.as_deref())) else {
        return Err(TrackError::NoCommit { ticket }.into());
    };
    let integration = trees.integration().await?;
    let at = worktrees::Ticket { label: Trees::ticket(&ticket), base, head };
    let (line, check) = trees.check_all(&matter.rules, &matter.target_checks).unzip();
    let done = trees.worktrees.integrate(&integration, &at, check.as_ref(), &|_: Beat| {}).await?;
    Ok(Some(match done {
        Integrated::Merged { commit, .. } | Integrated::Unchanged { target: commit } => {
            Command::Integrated { ticket, commit: Some(commit.to_string()) }
        }
        Integrated::Conflicted { preflight } => {
            let with = tickets(job, &preflight.with()).await?;
            let paths = preflight.conflicts.into_iter().map(|conflict| conflict.path).collect();
            Command::Conflicted { ticket, paths, with }
        }
        Integrated::RedTogether { verified, with, .. } => {
            let line = line.unwrap_or_default();
            let with = tickets(job, &with).await?;
            if let Some(fault) =
                verified.setup.as_ref().and_then(|setup| super::prepare::red_setup(matter, setup))
            {
                return Ok(Some(matter.failed(fault)));
            }
            match verified.outcome {
                Some(outcome) => Command::RedTogether { ticket, run: check_run(&line, &outcome), with },
                None => {
                    return Err(TrackError::CheckNotRun {
                        command: line,
                        reason: "its setup failed".to_owned(),
                    }
                    .into());
                }
            }
        }
    }))
}

/// Tickets by their labels.
async fn tickets(job: &Job, labels: &[Label]) -> Result<Vec<TicketId>> {
    job.log
        .look(|conduct| {
            let all = conduct.tickets().iter().map(|progress| &progress.ticket.id);
            all.filter(|id| labels.contains(&Trees::ticket(id))).cloned().collect()
        })
        .await
}
