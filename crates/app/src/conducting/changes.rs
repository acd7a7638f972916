//! What a ticket changes: the difference from its base to what its worker handed in, or keeps meanwhile.

use async_recursion::async_recursion as boxed;
use conductor::{Attempt, Progress, Refusal, TicketId};
use worktrees::{CommitId, Diff, DiffLimits, FileStat};

use super::ground::Ground;
use crate::inputs::TicketDiff;
use crate::outputs::{ChangedFile, TicketChange};
use crate::{Result, Runtime, TrackError};

/// The two commits of a change, and the attempt that made it.
struct Ends {
    attempt: u32,
    base: CommitId,
    head: CommitId,
    is_handed_in: bool,
}

impl Runtime {
    /// The change of an attempt at a ticket, the last one unless another is named.
    #[boxed]
    pub async fn ticket_diff(&self, input: TicketDiff) -> Result<TicketChange> {
        let TicketDiff { id, ticket, attempt } = input;
        let log = self.conducting().log(id).await?;
        let look = |conduct: &conductor::Conduct| {
            let progress = conduct.ticket(&ticket).ok_or_else(|| unknown(conduct, &ticket))?;
            Ok((conduct.isolation(), ends(progress, attempt)))
        };
        let found: std::result::Result<_, Refusal> = log.look_now(look).await?;
        let (isolation, ends) = found.map_err(|refusal| TrackError::Refused { track: id, refusal })?;
        let nothing = || TrackError::NoChange { ticket: ticket.clone() };
        let (isolation, ends) = isolation.zip(ends).ok_or_else(nothing)?;
        let project = self.project_root()?;
        if project != log.project {
            return Err(TrackError::OtherProject { track: id, project: log.project.clone() }.into());
        }
        let ground = Ground::open(self, &project, (id, &log.rules), isolation).await?;
        let Ground::Trees(trees) = ground else { return Err(nothing().into()) };
        let Diff { text, files, files_left_out } =
            trees.worktrees.diff(&ends.base, &ends.head, DiffLimits::default()).await?;
        Ok(TicketChange {
            ticket,
            attempt: ends.attempt,
            base: ends.base.to_string(),
            head: ends.head.to_string(),
            is_handed_in: ends.is_handed_in,
            files: files.into_iter().map(changed).collect(),
            files_left_out,
            diff: text,
        })
    }
}

fn unknown(conduct: &conductor::Conduct, ticket: &TicketId) -> Refusal {
    let known = conduct.tickets().iter().map(|it| it.id().as_str());
    let candidates = persona::nearest(ticket.as_str(), known).into_iter().map(str::to_owned).collect();
    Refusal::UnknownTicket { ticket: ticket.clone(), candidates }
}

/// The commits of an attempt. `None` if it has not kept anything yet.
fn ends(progress: &Progress, number: Option<u32>) -> Option<Ends> {
    let attempt = match number {
        Some(number) => progress.attempts.iter().find(|attempt| attempt.number == number)?,
        None => progress.attempts.last()?,
    };
    let Attempt { number, head, checkpoint, .. } = attempt;
    let kept = checkpoint.as_ref().map(|(_, commit)| commit);
    let base = CommitId::parse(progress.base.as_ref()?)?;
    let head_or_kept = CommitId::parse(head.as_ref().or(kept)?)?;
    Some(Ends { attempt: *number, base, head: head_or_kept, is_handed_in: head.is_some() })
}

fn changed(file: FileStat) -> ChangedFile {
    let FileStat { path, from, added, deleted, is_binary, bytes_left_out } = file;
    ChangedFile { path, from, added, deleted, is_binary, bytes_left_out }
}
