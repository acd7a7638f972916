//! `masque conduct merge` and `clean`: the track's work in a branch of the user, and worktrees away.

use app::Runtime;
use app::inputs::{CleanTracks, MergeTrack};
use app::outputs::{CleanedWorktree, Cleaning, MergeObstacle, MergedTrack};

use super::find;
use crate::cli::{CleanArgs, MergeArgs};
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Table, one_line};

const COLUMNS: [Column; 4] =
    [Column::Fixed("TRACK"), Column::Fixed("TICKET"), Column::Fixed("WORKTREE"), Column::Stretched("WHY")];

pub(super) async fn merge(args: MergeArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let track = find::track(runtime, &args.id).await?;
    let merged = runtime.merge_track(MergeTrack { id: track.id, branch: args.branch }).await?;
    if output.is_json() {
        output.json(&merged)?;
    } else {
        print_merged(&merged, output)?;
    }
    if merged.merged { Ok(()) } else { Err(Failure::Answered) }
}

fn print_merged(merged: &MergedTrack, output: &mut Output) -> Result<()> {
    let MergedTrack { branch, obstacle, command, directory, commit, .. } = merged;
    if merged.merged {
        let at = commit.as_deref().and_then(|commit| commit.get(..10)).unwrap_or_default();
        return output.line(format!("{branch} has the work of the track, at {at}"));
    }
    let why = match obstacle {
        Some(MergeObstacle::NoBranch) => "there is no such branch",
        Some(MergeObstacle::Diverged) => "it has commits that the track lacks",
        Some(MergeObstacle::Uncommitted) => "its checkout has changes that are not committed",
        Some(MergeObstacle::Busy) => "a merge or a rebase is under way in its checkout",
        Some(MergeObstacle::Refused) | None => "git refuses",
    };
    output.line(format!("{branch} is left as it is: {why}"))?;
    if command.is_empty() {
        return Ok(());
    }
    let place =
        directory.as_ref().map(|directory| format!(" in {}", directory.display())).unwrap_or_default();
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    output.advise(&format!("To bring the work there by hand, run{place}: {}", command.join(" ")))
}

/// A word of a command line for a shell.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

pub(super) async fn clean(args: &CleanArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let cleaned = runtime.clean_tracks(CleanTracks { dry_run: args.dry_run }).await?;
    if output.is_json() {
        return output.json(&cleaned);
    }
    if cleaned.items.is_empty() {
        return output.advise("There is no worktree of a ticket.");
    }
    let rows: Vec<Vec<String>> = cleaned.items.iter().map(|item| cells(item, args.dry_run)).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|row| table.row(output, row))?;
    match args.dry_run {
        true => output.advise("Nothing was changed; leave out --dry-run to do it."),
        false => Ok(()),
    }
}

fn cells(item: &CleanedWorktree, dry_run: bool) -> Vec<String> {
    let (done, planned, why) = match &item.outcome {
        Cleaning::Removed => ("removed", "would be removed", "its commits are on branches".to_owned()),
        Cleaning::Archived { reference } => {
            ("archived", "would be archived", format!("its work is kept in {reference}"))
        }
        Cleaning::Kept { reason } => ("kept", "kept", reason.clone()),
    };
    let done = if dry_run { planned } else { done };
    vec![one_line(&item.track), one_line(&item.ticket), done.to_owned(), one_line(&why)]
}
