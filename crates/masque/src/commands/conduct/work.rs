//! Shows a track while this process works it, and ends with what became of it.

use std::path::Path;

use app::inputs::ByTrack;
use app::outputs::{TicketBoard, TrackBoard};
use app::{Author, Runtime};
use conductor::{Phase, State};
use serde::Serialize;

use super::find::Handle;
use super::{board, follow, show, words};
use crate::ask;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::signals::{self, Signal, Signals};

/// A track to show.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) track: Handle,
    /// The number of the last event that is not shown.
    pub(super) after: u64,
    /// The file that gets the report.
    pub(super) report: Option<&'a Path>,
    /// True if log lines would mix with a board.
    pub(super) verbose: bool,
}

/// How the show ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The track ended, or nothing moves until a person acts.
    AtRest,
    /// The user left the board.
    Detached,
    Signal(Signal),
}

/// The first and the last line with `--json`.
#[derive(Serialize)]
struct BoardLine<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    board: &'a TrackBoard,
}

/// Shows a track until it ends, waits for a person, or the user leaves. Then this process stops working it.
pub(super) async fn run(
    work: &Work<'_>,
    runtime: &Runtime,
    author: &Author,
    output: &mut Output,
) -> Result<()> {
    // Before anything is shown: whoever reads it may send a signal.
    let mut signals = Signals::listen()?;
    let left = show_it(work, runtime, author, &mut signals, output).await;
    if let Ok(Left::Signal(_) | Left::Detached) = left {
        output.advise("Stopping; Ctrl-C ends it at once…")?;
    }
    // A second signal does not wait.
    let impatient = tokio::spawn(signals::exit_at_next());
    runtime.stop().await;
    impatient.abort();
    let (left, board) = (left?, runtime.get_track(ByTrack { id: work.track.id }).await?);
    if let Some(file) = work.report {
        let report = runtime.track_report(ByTrack { id: work.track.id }).await?;
        std::fs::write(file, &report.markdown).map_err(|error| Failure::file("write", file, &error))?;
        output.advise(&format!("Wrote the report to {}.", file.display()))?;
    }
    if output.is_json() {
        board_line(&board, output)?;
    } else {
        conclude(&board, &work.track, output)?;
    }
    match left {
        Left::Signal(signal) => Err(Failure::Stopped(signal)),
        Left::Detached | Left::AtRest => outcome(&board),
    }
}

async fn show_it(
    work: &Work<'_>,
    runtime: &Runtime,
    author: &Author,
    signals: &mut Signals,
    output: &mut Output,
) -> Result<Left> {
    if output.is_json() {
        board_line(&runtime.get_track(ByTrack { id: work.track.id }).await?, output)?;
    } else if ask::can_ask(output) && output.is_terminal() && !work.verbose {
        return board::run(&work.track, runtime, author, signals, output).await;
    }
    follow::until_at_rest(work, runtime, signals, output).await
}

fn board_line(board: &TrackBoard, output: &mut Output) -> Result<()> {
    follow::json_line(&BoardLine { r#type: "board", board }, output)
}

/// Says what became of the track, and what to do next.
fn conclude(board: &TrackBoard, track: &Handle, output: &mut Output) -> Result<()> {
    output.line(show::summary(board))?;
    show::needs(board, track, output)?;
    match board.phase {
        Phase::Finished | Phase::Cancelled => {
            let is_merged = board.tickets.iter().any(|ticket| ticket.merged.is_some());
            if let Some(branch) = board.branch.as_ref().filter(|_| is_merged) {
                output.advise(&format!(
                    "The work is on the branch {branch}; `masque conduct merge {track}` brings it to yours."
                ))?;
            }
            if has_failed(board) && board.phase == Phase::Finished {
                output.advise(&format!(
                    "`masque conduct report {track}` says what failed; `masque conduct retry {track} TICKET` tries it again."
                ))?;
            }
            Ok(())
        }
        _ => output.advise(&format!("Go on with `masque conduct --resume {track}`.")),
    }
}

/// True if a ticket is not done. A draft is no part of the work.
fn has_failed(board: &TrackBoard) -> bool {
    board.tickets.iter().any(|ticket| !ticket.state.is_met() && ticket.state != State::Draft)
}

/// The failure of a track that is not merged as a whole.
fn outcome(board: &TrackBoard) -> Result<()> {
    match board.phase {
        Phase::Finished | Phase::Cancelled if has_failed(board) => Err(Failure::Answered),
        Phase::Finished | Phase::Cancelled => Ok(()),
        _ => Err(Failure::Unfinished),
    }
}

/// True if nothing happens in a track until a person acts.
pub(super) fn is_at_rest(board: &TrackBoard) -> bool {
    match board.phase {
        Phase::New | Phase::Finished | Phase::Cancelled => false,
        Phase::Waiting => true,
        Phase::Paused => !board.tickets.iter().any(is_at_work),
        Phase::Running => {
            let asks = |ticket: &TicketBoard| !ticket.approvals.is_empty();
            board.tickets.iter().any(asks) && !board.tickets.iter().any(moves)
        }
    }
}

/// True while a step is under way that waits for nobody.
fn is_at_work(ticket: &TicketBoard) -> bool {
    match ticket.state {
        State::Setup | State::Checking | State::Integrating => true,
        State::Working | State::Rework => {
            ticket.attempts.last().is_some_and(|it| it.ended_at.is_none()) && ticket.approvals.is_empty()
        }
        State::Reviewing => ticket.rounds.last().is_some_and(|it| it.ended_at.is_none()),
        _ => false,
    }
}

/// True if a step is under way that waits for nobody, or will be.
fn moves(ticket: &TicketBoard) -> bool {
    match ticket.state {
        State::Working => ticket.approvals.is_empty(),
        State::Ready
        | State::Setup
        | State::Submitted
        | State::Checking
        | State::Reviewing
        | State::Rework
        | State::Queued
        | State::Integrating => true,
        State::Draft
        | State::AwaitingApproval
        | State::Blocked
        | State::NeedsInput
        | State::Merged
        | State::NoChange
        | State::Failed
        | State::Cancelled => false,
    }
}

/// A line about a ticket for `words`.
pub(super) fn ticket_line(ticket: &TicketBoard) -> String {
    let persona = ticket.persona.as_ref().map(|name| format!(", {name}")).unwrap_or_default();
    let model = ticket.model.as_ref().map(|model| format!(" on {model}")).unwrap_or_default();
    format!("{} {}{persona}{model}", ticket.id, words::state(ticket.state))
}
