//! `masque conduct --dry-run`: who would work what.

use app::outputs::{PlannedContext, PlannedTicket, TrackBase, TrackPlan};

use super::{show, words};
use crate::failure::Result;
use crate::output::{Column, Output, Table, one_line};

const COLUMNS: [Column; 7] = [
    Column::Fixed("TICKET"),
    Column::Fixed("TIER"),
    Column::Stretched("TITLE"),
    Column::Kept("PERSONA"),
    Column::Optional("TOKENS"),
    Column::Kept("MODELS"),
    Column::Kept("AFTER"),
];

/// Characters of a commit's id.
const SHORT_COMMIT: usize = 10;

pub(super) fn print(plan: &TrackPlan, output: &mut Output) -> Result<()> {
    if output.is_json() {
        return output.json(plan);
    }
    let place = if plan.isolate { "each in a worktree of its own" } else { "in the project's directory" };
    let count = plan.tickets.len();
    let tickets = if count == 1 { "1 ticket".to_owned() } else { format!("{count} tickets") };
    output.heading(&plan.title)?;
    output.line(format!("{tickets}, at most {} at once, {place}", plan.concurrency))?;
    if let Some(base) = &plan.base {
        let short: String = base.commit.chars().take(SHORT_COMMIT).collect();
        let branch = base.branch.as_deref().map(|branch| format!("{branch} at ")).unwrap_or_default();
        output.line(format!("from {branch}{short}"))?;
        if let Some(left_out) = left_out(base) {
            output.line(left_out)?;
        }
    }
    if let Some(setup) = &plan.setup {
        output.line(format!("setup: {}", one_line(setup)))?;
    }
    output.blank()?;
    let rows: Vec<Vec<String>> = plan.tickets.iter().map(cells).collect();
    let table = Table::fitted(&COLUMNS, &rows, output.width());
    table.header(output)?;
    for (ticket, row) in plan.tickets.iter().zip(&rows) {
        table.row(output, row)?;
        for note in notes(ticket) {
            output.paragraph(4, &note)?;
        }
    }
    output.advise("Nothing was started, and no model was called.")
}

/// What of the user's checkout is no part of the work.
pub(super) fn left_out(base: &TrackBase) -> Option<String> {
    match base.uncommitted {
        0 => None,
        1 => Some("1 file that is not committed is no part of the work".to_owned()),
        count => Some(format!("{count} files that are not committed are no part of the work")),
    }
}

fn cells(ticket: &PlannedTicket) -> Vec<String> {
    let list = |words: Vec<String>| words.join(", ");
    vec![
        ticket.id.to_string(),
        ticket.tier.number().to_string(),
        one_line(&ticket.title),
        ticket.persona.as_ref().map(ToString::to_string).unwrap_or_default(),
        words::tokens(ticket.tokens as u64),
        list(ticket.models.iter().map(ToString::to_string).collect()),
        list(ticket.depends_on.iter().map(ToString::to_string).collect()),
    ]
}

/// What the row of a ticket has no room for.
fn notes(ticket: &PlannedTicket) -> Vec<String> {
    let mut notes = Vec::new();
    for fell_back in &ticket.fell_back {
        let (name, reason) = (&fell_back.persona, one_line(&fell_back.reason));
        notes.push(format!("persona {name} cannot be used, so the defaults take its place: {reason}"));
    }
    if ticket.models.is_empty() {
        notes.push("no model can be called; set a key, or see `masque doctor`".to_owned());
    }
    if let Some(PlannedContext { files, left_out, tokens, budget }) = ticket.context {
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        let rest = if left_out == 0 { String::new() } else { format!("; {left_out} left out") };
        notes.push(format!("{files} of the project, {tokens} of {budget} tokens{rest}"));
    }
    match &ticket.check {
        Some(check) => notes.push(format!("check: {}", one_line(check))),
        None => notes.push("no check: you approve the result".to_owned()),
    }
    notes.extend(ticket.reviewer.as_ref().map(|reviewer| format!("reviewed by {reviewer}")));
    notes.extend(show::cap_text(ticket.cap).map(|cap| format!("at most {cap}")));
    notes
}
