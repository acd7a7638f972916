//! Removes the worktrees of ended tickets.

use async_recursion::async_recursion as boxed;
use conductor::{Conduct, Phase, State};
use tracks::TrackRow;
use worktrees::{
    GitProgram, KeptReason, Label, Lease, Removal, RemovalAction, Repository, TicketStanding, Worktrees,
};

use super::ground::{Trees, label};
use crate::inputs::CleanTracks;
use crate::outputs::{CleanedWorktree, CleanedWorktrees, Cleaning};
use crate::{Result, Runtime, TrackError};

impl Runtime {
    /// Removes the worktrees of the open project whose tickets have ended. Work that no branch has is kept in
    /// a reference first; a worktree of which that cannot be proven stays.
    #[boxed]
    pub async fn clean_tracks(&self, input: CleanTracks) -> Result<CleanedWorktrees> {
        let project = self.project_root()?;
        let repository = Repository::open(&GitProgram::find().await?, std::path::Path::new(&project)).await?;
        let none = || TrackError::NoRepository { path: project.clone().into() };
        let repository = repository.ok_or_else(none)?;
        let worktrees = Worktrees::open(repository, &self.conducting().worktrees_home()?)?;
        // Without the database nothing is known to have ended, and nothing is removed.
        let standings = self.standings(&project).await?;
        let cleaned = worktrees.clean(&standings, input.dry_run).await?;
        let items = cleaned.removals.into_iter().map(cleaned_worktree).collect();
        Ok(CleanedWorktrees { dry_run: cleaned.dry_run, items })
    }

    /// The tickets of all tracks of a project, as the database has them.
    async fn standings(&self, project: &str) -> Result<Vec<TicketStanding>> {
        let tracks = &self.conducting().tracks;
        let mut standings = Vec::new();
        let mut cursor = None;
        loop {
            let page = tracks.list(Some(project), cursor.as_deref(), None).await?;
            for row in &page.items {
                standings.extend(self.standings_of(row).await?);
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(standings);
            }
        }
    }

    async fn standings_of(&self, row: &TrackRow) -> Result<Vec<TicketStanding>> {
        let log = self.conducting().log(row.id).await?;
        let claims = self.conducting().tracks.claims(row.id).await?;
        let held: Vec<Option<String>> = claims
            .into_iter()
            .filter(|claim| !claim.sighting.is_over)
            .map(|claim| claim.fence.ticket.map(|ticket| ticket.to_string()))
            .collect();
        let track = label(&row.title, row.id);
        log.look_now(|conduct| standings(conduct, &track, &held)).await
    }
}

fn standings(conduct: &Conduct, track: &Label, held: &[Option<String>]) -> Vec<TicketStanding> {
    let is_over = matches!(conduct.phase(), Phase::Finished | Phase::Cancelled);
    let lease = |ticket: Option<&str>| {
        let is_held = held.iter().any(|it| it.as_deref() == ticket);
        if is_held { Lease::Held } else { Lease::Free }
    };
    let tickets = conduct.tickets().iter().map(|progress| TicketStanding {
        track: track.clone(),
        ticket: Trees::ticket(&progress.ticket.id),
        ended: is_over || progress.state.is_met() || progress.state == State::Cancelled,
        lease: lease(Some(progress.ticket.id.as_str())),
    });
    let integration = TicketStanding {
        track: track.clone(),
        ticket: Label::integration(),
        ended: is_over,
        // Its steps are those of tickets.
        lease: if held.is_empty() { Lease::Free } else { Lease::Held },
    };
    tickets.chain([integration]).collect()
}

fn cleaned_worktree(removal: Removal) -> CleanedWorktree {
    let Removal { track, ticket, path, action } = removal;
    let outcome = match action {
        RemovalAction::Removed => Cleaning::Removed,
        RemovalAction::Archived { reference } => Cleaning::Archived { reference },
        RemovalAction::Kept { reason } => Cleaning::Kept { reason: kept(reason) },
    };
    CleanedWorktree { track, ticket, path, outcome }
}

fn kept(reason: KeptReason) -> String {
    match reason {
        KeptReason::NotEnded => "its ticket may still need it".to_owned(),
        KeptReason::Leased => "a worker has its ticket".to_owned(),
        KeptReason::Unknown => "the database does not know its ticket".to_owned(),
        KeptReason::Busy => "another process works in it".to_owned(),
        KeptReason::Foreign => "it is no worktree of a ticket".to_owned(),
        KeptReason::Unstorable { paths } => format!("git cannot keep these files: {}", paths.join(", ")),
        KeptReason::Submodules => "it holds repositories with work of their own".to_owned(),
        KeptReason::Failed { words, .. } => words,
    }
}
