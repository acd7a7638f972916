//! Makes the worktree of a ticket, sets it up, and runs the check before anything is changed.

use conductor::{Command, Fault};
use worktrees::{Beat, SetupOutcome};

use super::{Job, Matter, check_run};
use crate::Result;
use crate::conducting::ground::{Ground, Trees};

pub(super) async fn take(job: &Job, matter: &Matter) -> Result<Option<Command>> {
    let ticket = matter.ticket.clone();
    let trees = match &job.ground {
        Ground::Trees(trees) => trees,
        Ground::Project(root) => {
            let baseline = match &matter.check {
                Some(line) => Some(job.check_project(root, line).await?),
                None => None,
            };
            return Ok(Some(Command::Prepared { ticket, base: None, branch: None, baseline }));
        }
    };
    let mut worktree = trees.worktree(&ticket, None).await?;
    if matter.key.number > 1 {
        // A person may have mended what stood in the way.
        trees.start_anew(&mut worktree).await?;
    }
    let setup = trees.setup(&matter.rules);
    let outcome = trees.worktrees.setup(&worktree, &setup, &|_: Beat| {}).await?;
    if let Some(fault) = red_setup(matter, &outcome) {
        return Ok(Some(matter.failed(fault)));
    }
    let base = worktree.base().clone();
    let baseline = match trees.check_all(&matter.rules, &matter.target_checks) {
        None => None,
        Some((line, check)) => {
            let label = Trees::ticket(&ticket);
            let at = worktrees::Ticket { label, base: base.clone(), head: base.clone() };
            let verified = trees.worktrees.baseline(&trees.track, &at, &check, &|_: Beat| {}).await?;
            if let Some(fault) = verified.setup.as_ref().and_then(|setup| red_setup(matter, setup)) {
                return Ok(Some(matter.failed(fault)));
            }
            verified.outcome.map(|outcome| check_run(&line, &outcome))
        }
    };
    let (base, branch) = (Some(base.to_string()), Some(worktree.branch()));
    Ok(Some(Command::Prepared { ticket, base, branch, baseline }))
}

/// The fault of a setup whose command failed.
pub(super) fn red_setup(matter: &Matter, outcome: &SetupOutcome) -> Option<Fault> {
    let failed = outcome.command.as_ref().filter(|command| !command.passed())?;
    let line = matter.rules.setup.as_ref().and_then(|setup| setup.command.as_deref()).unwrap_or_default();
    let message = "the setup command failed".to_owned();
    Some(Fault::Setup { message, run: Some(check_run(line, failed)) })
}
