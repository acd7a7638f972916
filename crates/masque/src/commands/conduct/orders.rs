//! What people decide about tracks: approve, accept, answer, retry, cancel, pause, raise a cap.

use app::inputs::{
    AnswerTicket, ApproveTickets, ByTicket, ByTrack, CancelTicket, CancelTrack, JudgeResult, RaiseCap,
    RetryTicket,
};
use app::outputs::TrackBoard;
use app::{Author, Runtime};
use conductor::{Cap, Phase, TicketId};

use super::find::{self, Handle};
use super::{show, work};
use crate::cli::{CapArgs, ConductOrder};
use crate::failure::Result;
use crate::output::Output;

/// Carries an order out, and shows the tickets that it is about.
pub(super) async fn run(
    order: ConductOrder,
    runtime: &Runtime,
    author: &Author,
    output: &mut Output,
) -> Result<()> {
    let (track, ticket, board) = give(order, runtime, author).await?;
    if output.is_json() {
        return output.json(&board);
    }
    for shown in board.tickets.iter().filter(|shown| ticket.as_ref() == Some(&shown.id)) {
        output.line(work::ticket_line(shown))?;
    }
    output.line(show::summary(&board))?;
    match board.phase {
        Phase::Running => output.advise(&format!(
            "It goes on where it is worked; `masque conduct --resume {track}` works it here."
        )),
        _ => Ok(()),
    }
}

type Given = (Handle, Option<TicketId>, TrackBoard);

async fn give(order: ConductOrder, runtime: &Runtime, author: &Author) -> Result<Given> {
    let find = async |id: &str| find::track(runtime, id).await;
    Ok(match order {
        ConductOrder::Approve(args) => {
            let (track, tickets) = (find(&args.id).await?, args.tickets);
            let shown = tickets.first().cloned();
            let input = ApproveTickets { id: track.id, tickets };
            let board = runtime.approve_tickets(author, input).await?;
            (track, shown, board)
        }
        ConductOrder::ApproveStep(args) => {
            let (track, ticket) = (find(&args.id).await?, args.ticket);
            let input = ByTicket { id: track.id, ticket: ticket.clone() };
            let board = runtime.approve_step(author, input).await?;
            (track, Some(ticket), board)
        }
        ConductOrder::Accept(args) => {
            let (track, ticket) = (find(&args.of.id).await?, args.of.ticket);
            let input = judgement(&track, &ticket, args.note);
            let board = runtime.approve_result(author, input).await?;
            (track, Some(ticket), board)
        }
        ConductOrder::Reject(args) => {
            let (track, ticket) = (find(&args.of.id).await?, args.of.ticket);
            let input = judgement(&track, &ticket, args.note);
            let board = runtime.reject_result(author, input).await?;
            (track, Some(ticket), board)
        }
        ConductOrder::Answer(args) => {
            let (track, ticket) = (find(&args.of.id).await?, args.of.ticket);
            let input = AnswerTicket { id: track.id, ticket: ticket.clone(), answer: args.answer };
            let board = runtime.answer_ticket(author, input).await?;
            (track, Some(ticket), board)
        }
        ConductOrder::Retry(args) => {
            let (track, ticket) = (find(&args.of.id).await?, args.of.ticket);
            let (model, persona, note) = (args.model, args.persona, args.note);
            let input = RetryTicket { id: track.id, ticket: ticket.clone(), model, persona, note };
            let board = runtime.retry_ticket(author, input).await?;
            (track, Some(ticket), board)
        }
        ConductOrder::Cancel(args) => {
            let (track, reason) = (find(&args.id).await?, args.reason);
            let board = match args.ticket.clone() {
                Some(ticket) => {
                    let input = CancelTicket { id: track.id, ticket, reason };
                    runtime.cancel_ticket(author, input).await?
                }
                None => runtime.cancel_track(author, CancelTrack { id: track.id, reason }).await?,
            };
            (track, args.ticket, board)
        }
        ConductOrder::Cap(args) => cap(args, runtime, author).await?,
        ConductOrder::Pause(args) => {
            let track = find(&args.id).await?;
            let board = runtime.pause_track(author, ByTrack { id: track.id }).await?;
            (track, None, board)
        }
    })
}

fn judgement(track: &Handle, ticket: &TicketId, note: String) -> JudgeResult {
    JudgeResult { id: track.id, ticket: ticket.clone(), note, findings: Vec::new() }
}

/// Changes the caps that are named. The other one of the same account stays.
async fn cap(args: CapArgs, runtime: &Runtime, author: &Author) -> Result<Given> {
    let CapArgs { id, ticket, day, tokens, cost } = args;
    let track = find::track(runtime, &id).await?;
    let board = runtime.get_track(ByTrack { id: track.id }).await?;
    let before: Cap = match &ticket {
        // An unknown ticket is an error of the order itself.
        Some(ticket) => board.tickets.iter().find(|it| it.id == *ticket).map(|it| it.cap).unwrap_or_default(),
        None if day => board.day_cap,
        None => board.cap,
    };
    let tokens = tokens.map_or(before.tokens, |limit| limit.0);
    let cost = cost.map_or(before.cost, |limit| limit.0);
    let input = RaiseCap { id: track.id, ticket: ticket.clone(), day, tokens, cost };
    let board = runtime.raise_cap(author, input).await?;
    Ok((track, ticket, board))
}
