//! `masque conduct list`, `show`, `log` and `report`.

use app::conducting::TrackEvent;
use app::inputs::{ByTrack, TicketDiff};
use app::outputs::{TicketBoard, TrackBoard, TrackItem, TrackList};
use app::{Code, Remedy, Report, Runtime, Subject};
use chrono::Utc;
use conductor::{Cap, Isolation, Phase, State, TicketId};
use uuid::Uuid;

use super::find::{self, Handle};
use super::follow::{self, Events};
use super::words;
use crate::cli::{ListTracksArgs, TicketDiffArgs, TrackLogArgs};
use crate::failure::{Failure, Result};
use crate::output::{Column, Output, Stream, Style, Table, one_line};
use crate::signals::Signals;

/// The default number of listed tracks.
const LISTED: usize = 50;
/// Sentences about a ticket that the list of tickets shows.
const REASONS: usize = 2;

const TRACKS: [Column; 5] = [
    Column::Fixed("ID"),
    Column::Fixed("STATE"),
    Column::Stretched("TITLE"),
    Column::Optional("LAST EVENT"),
    Column::Optional("PROJECT"),
];

const TICKETS: [Column; 7] = [
    Column::Fixed("TICKET"),
    Column::Fixed("STATE"),
    Column::Stretched("TITLE"),
    Column::Optional("PERSONA"),
    Column::Optional("SPENT"),
    Column::Optional("TIME"),
    Column::Optional("MODEL"),
];

pub(super) async fn list(args: &ListTracksArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let mut remaining = if args.all { usize::MAX } else { args.limit.map_or(LISTED, |limit| limit as usize) };
    let mut listed = TrackList { items: Vec::new(), next_cursor: None };
    loop {
        let page = find::page(runtime, args.everywhere, remaining, listed.next_cursor.take()).await?;
        remaining = remaining.saturating_sub(page.items.len());
        listed.items.extend(page.items);
        listed.next_cursor = page.next_cursor;
        if remaining == 0 || listed.next_cursor.is_none() {
            break;
        }
    }
    if output.is_json() {
        return output.json(&listed);
    }
    if listed.items.is_empty() {
        return output
            .advise("No tracks yet; write one, or have one drafted with `masque conduct --draft EPIC.md`.");
    }
    let ids: Vec<Uuid> = listed.items.iter().map(|item| item.id).collect();
    let shown = find::shown(&ids);
    let cells = |item: &TrackItem| {
        vec![
            find::end(item.id, shown),
            words::phase(item.phase).to_owned(),
            one_line(&item.title),
            words::local(item.updated_at),
            if args.everywhere { one_line(&item.project) } else { String::new() },
        ]
    };
    let rows: Vec<Vec<String>> = listed.items.iter().map(cells).collect();
    let table = Table::fitted(&TRACKS, &rows, output.width());
    table.header(output)?;
    rows.iter().try_for_each(|row| table.row(output, row))?;
    if listed.next_cursor.is_some() {
        output.advise("More tracks exist; use --all or a higher --limit.")?;
    }
    Ok(())
}

pub(super) async fn show(id: &str, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let track = find::track(runtime, id).await?;
    let board = runtime.get_track(ByTrack { id: track.id }).await?;
    if output.is_json() {
        return output.json(&board);
    }
    output.field("track", &board.id.to_string())?;
    output.field("title", &board.title)?;
    output.field("state", &summary(&board))?;
    output.field("project", &board.project)?;
    if let Some(branch) = &board.branch {
        output.field("branch", branch)?;
    }
    let place = match board.isolation {
        Some(Isolation::Worktrees) => "each ticket in a worktree of its own",
        Some(Isolation::None) => "in the project's directory",
        None => "not started",
    };
    output.field("worked", place)?;
    for (label, spent, cap) in
        [("spent", board.spent, board.cap), ("spent today", board.spent_today, board.day_cap)]
    {
        let limit = cap_text(cap).map(|cap| format!(" of at most {cap}")).unwrap_or_default();
        output.field(label, &format!("{}{limit}", words::spent(spent)))?;
    }
    if board.is_newer {
        output.field("note", "a newer version of Masque wrote to it, so it is read-only here")?;
    }
    output.blank()?;
    needs(&board, &track, output)?;
    tickets(&board, output)
}

/// The caps as a text, unless there are none.
pub(super) fn cap_text(cap: Cap) -> Option<String> {
    let tokens = cap.tokens.map(|tokens| format!("{} tokens", words::tokens(tokens)));
    let cost = cap.cost.map(|cost| cost.to_string());
    let both: Vec<String> = tokens.into_iter().chain(cost).collect();
    Some(both.join(" and ")).filter(|text| !text.is_empty())
}

/// One line: the state of the track, and how many tickets are where.
pub(super) fn summary(board: &TrackBoard) -> String {
    let counts: Vec<String> = board
        .counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(state, count)| format!("{count} {}", state.replace('_', " ")))
        .collect();
    format!("{}: {} ({})", words::phase(board.phase), counts.join(", "), words::spent(board.spent))
}

/// What waits for a person, with the command that answers it.
pub(super) fn needs(board: &TrackBoard, track: &Handle, output: &mut Output) -> Result<()> {
    let mut lines: Vec<(String, String)> = board
        .needs
        .iter()
        .map(|need| {
            let what = format!("{} {}", need.ticket, one_line(&need.sentence));
            (what, words::command_for(&need.need, &need.ticket, track))
        })
        .collect();
    for ticket in &board.tickets {
        for approval in &ticket.approvals {
            let what =
                format!("{} waits for permission to call {}", ticket.id, one_line(&approval.call.name));
            lines.push((what, format!("masque sessions approve {} --all", approval.session)));
        }
    }
    if matches!(board.phase, Phase::Paused) {
        lines.push(("the track is paused".to_owned(), format!("masque conduct --resume {track}")));
    }
    if lines.is_empty() {
        return Ok(());
    }
    output.heading("Needs you")?;
    for (what, command) in lines {
        output.paragraph(2, &what)?;
        let command = output.styled(Style::Faint, format!("    {command}"));
        output.styled_line(&command)?;
    }
    output.blank()
}

fn tickets(board: &TrackBoard, output: &mut Output) -> Result<()> {
    let rows: Vec<Vec<String>> = board.tickets.iter().map(ticket_cells).collect();
    let table = Table::fitted(&TICKETS, &rows, output.width());
    table.header(output)?;
    for (ticket, row) in board.tickets.iter().zip(&rows) {
        let style = match ticket.state {
            State::Merged | State::NoChange => Style::Good,
            State::Failed | State::Cancelled => Style::Bad,
            State::NeedsInput | State::AwaitingApproval | State::Draft => Style::Warning,
            _ => Style::Plain,
        };
        table.styled_row(output, row, &[(0, Style::Name), (1, style)])?;
        for line in notes(ticket) {
            output.paragraph(4, &line)?;
        }
    }
    Ok(())
}

fn ticket_cells(ticket: &TicketBoard) -> Vec<String> {
    let time = ticket
        .began_at
        .map(|began| words::elapsed(began, ticket.ended_at.unwrap_or_else(Utc::now)))
        .unwrap_or_default();
    let spent = if ticket.spent.tokens == 0 { String::new() } else { words::spent(ticket.spent) };
    vec![
        ticket.id.to_string(),
        words::state(ticket.state),
        one_line(&ticket.title),
        ticket.persona.as_ref().map(ToString::to_string).unwrap_or_default(),
        spent,
        time,
        ticket.model.as_ref().map(ToString::to_string).unwrap_or_default(),
    ]
}

/// Why a ticket is where it is, below its row.
pub(super) fn notes(ticket: &TicketBoard) -> Vec<String> {
    let mut notes = Vec::new();
    for fell_back in &ticket.fell_back {
        let (name, reason) = (&fell_back.persona, one_line(&fell_back.reason));
        notes.push(format!("persona {name} cannot be used, so the defaults take its place: {reason}"));
    }
    if !ticket.waits_for.is_empty() {
        let waits: Vec<String> = ticket.waits_for.iter().map(ToString::to_string).collect();
        notes.push(format!("waits for {}", waits.join(", ")));
    }
    if !ticket.state.is_met() {
        notes.extend(ticket.why.iter().take(REASONS).map(|why| one_line(why)));
    }
    notes
}

pub(super) async fn report(id: &str, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let track = find::track(runtime, id).await?;
    let report = runtime.track_report(ByTrack { id: track.id }).await?;
    if output.is_json() {
        return output.json(&report);
    }
    output.exact(&report.markdown)
}

pub(super) async fn diff(args: TicketDiffArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let track = find::track(runtime, &args.of.id).await?;
    let input = TicketDiff { id: track.id, ticket: args.of.ticket, attempt: args.attempt };
    let change = runtime.ticket_diff(input).await?;
    if output.is_json() {
        return output.json(&change);
    }
    for line in change.diff.lines() {
        let style = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', ..] => Style::Title,
            [b'+', ..] => Style::Added,
            [b'-', ..] => Style::Removed,
            [b'@', ..] => Style::Name,
            _ => Style::Plain,
        };
        output.pieces(Stream::Output, &[(style, line)])?;
    }
    let cut = change.files.iter().filter(|file| file.bytes_left_out > 0).count();
    if cut > 0 || change.files_left_out > 0 {
        let left_out = change.files_left_out;
        output.advise(&format!("The diff is too long: {cut} files are cut, {left_out} are left out."))?;
    }
    if !change.is_handed_in {
        output.advise("This is work in progress: nothing is handed in yet.")?;
    }
    Ok(())
}

pub(super) async fn log(args: TrackLogArgs, runtime: &Runtime, output: &mut Output) -> Result<()> {
    let TrackLogArgs { id, ticket, follow, .. } = args;
    let track = find::track(runtime, &id).await?;
    let board = runtime.get_track(ByTrack { id: track.id }).await?;
    if let Some(ticket) = &ticket {
        check_ticket(&board, ticket)?;
    }
    if board.seq == 0 && !follow {
        return Ok(());
    }
    let mut signals = Signals::listen()?;
    let mut events = Events::open(runtime, track.id, 0).await?;
    loop {
        let event = tokio::select! {
            event = events.next() => event?,
            signal = signals.next() => return Err(Failure::Stopped(signal)),
        };
        let Some(event) = event else { return Ok(()) };
        let TrackEvent::Recorded { recorded } = &event else { continue };
        if ticket.is_none() || recorded.event.ticket() == ticket.as_ref() {
            match output.is_json() {
                true => follow::json_line(recorded, output)?,
                false => follow::line(recorded, output)?,
            }
        }
        if !follow && recorded.seq >= board.seq {
            return Ok(());
        }
    }
}

/// Fails if a track has no such ticket.
fn check_ticket(board: &TrackBoard, ticket: &TicketId) -> Result<()> {
    if board.tickets.iter().any(|it| it.id == *ticket) {
        return Ok(());
    }
    let known = board.tickets.iter().map(|it| it.id.as_str());
    let near: Vec<String> = persona::nearest(ticket.as_str(), known).into_iter().map(str::to_owned).collect();
    let remedies = match near.is_empty() {
        true => vec![Remedy::Run { command: format!("masque conduct show {}", board.id) }],
        false => vec![Remedy::DidYouMean],
    };
    let subject = Subject { name: Some(ticket.to_string()), ..Subject::field("ticket") };
    let report = Report::new(Code::UnknownTicket, format!("the track has no ticket {:?}", ticket.as_str()));
    let report = remedies.into_iter().fold(report.about(subject), Report::with_remedy);
    Err(report.with_candidates(near).into())
}
