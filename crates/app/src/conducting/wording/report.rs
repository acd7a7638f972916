//! The report of a track, as markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use conductor::{Attempt, Conduct, OrderKind, Origin, Outcome, Progress, ShortState, Spent, State, TicketId};
use tracks::Accounts;

use super::{evidence, fault, need, objection};

/// What happened in a track: what was done, by which persona and model, at what cost, and what is left.
pub(in crate::conducting) fn report(conduct: &Conduct, accounts: &Accounts) -> String {
    let mut text = format!("# {}\n", conduct.track().title);
    if !conduct.track().goal.is_empty() {
        let _ = write!(text, "\n{}\n", conduct.track().goal.trim());
    }
    summary(&mut text, conduct, accounts);
    table(&mut text, conduct, accounts);
    waiting(&mut text, conduct);
    for progress in conduct.tickets() {
        ticket(&mut text, conduct, progress);
    }
    text
}

fn summary(text: &mut String, conduct: &Conduct, accounts: &Accounts) {
    let counts: Vec<String> = conduct
        .counts()
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {}", short_name(state)))
        .collect();
    let _ = write!(text, "\n{} tickets: {}.", conduct.tickets().len(), counts.join(", "));
    if let (Some(began), Some(last)) = (conduct.began_at(), conduct.last_at()) {
        let _ = write!(text, " {} to {} ({}).", time(began), time(last), elapsed(began, last));
    }
    let _ = writeln!(text, " Spent: {}.", spent(accounts.track.spent));
    let escalated: u32 = conduct.tickets().iter().map(escalations).sum();
    if escalated > 0 {
        let _ = writeln!(text, "\nEscalations to another model: {escalated}.");
    }
}

fn short_name(state: ShortState) -> &'static str {
    match state {
        ShortState::Todo => "to do",
        ShortState::InProgress => "in progress",
        ShortState::Blocked => "blocked",
        ShortState::Completed => "completed",
        ShortState::Failed => "failed",
    }
}

fn table(text: &mut String, conduct: &Conduct, accounts: &Accounts) {
    let spent_on: BTreeMap<&TicketId, Spent> =
        accounts.tickets.iter().map(|(id, balance)| (id, balance.spent)).collect();
    text.push_str(
        "\n| ticket | state | persona | model | attempts | spent | time |\n|---|---|---|---|---|---|---|\n",
    );
    for progress in conduct.tickets() {
        let last = progress.attempts.last();
        let persona = last.and_then(|it| it.persona.as_ref()).map_or("–", |name| name.as_str());
        let model = last.map_or("–", |attempt| attempt.model.as_str());
        let time = match (progress.began_at, progress.ended_at.or(progress.last_at)) {
            (Some(began), Some(ended)) => elapsed(began, ended),
            _ => "–".to_owned(),
        };
        let _ = writeln!(
            text,
            "| {}: {} | {} | {persona} | {model} | {} | {} | {time} |",
            progress.ticket.id,
            cell(&progress.ticket.title),
            progress.state,
            progress.attempts.len(),
            spent(spent_on.get(&progress.ticket.id).copied().unwrap_or_default()),
        );
    }
}

/// Everything that is not done, and why.
fn waiting(text: &mut String, conduct: &Conduct) {
    let open: Vec<&Progress> = conduct
        .tickets()
        .iter()
        .filter(|progress| !progress.state.is_met() && progress.state != State::Cancelled)
        .collect();
    if open.is_empty() {
        return;
    }
    text.push_str("\n## Not done\n");
    for progress in open {
        let known = || progress.evidence.iter().map(evidence).collect::<Vec<_>>().join("; ");
        let why = match conduct.need(progress) {
            Some(wanted) if progress.state != State::Failed => need(&wanted),
            None if progress.state == State::Blocked => blocked(conduct, progress),
            _ => known(),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {}", first_line(&why)) };
        let _ = writeln!(text, "- {} is {}{why}", progress.ticket.id, progress.state);
    }
}

fn blocked(conduct: &Conduct, progress: &Progress) -> String {
    let waits: Vec<String> = progress
        .ticket
        .depends_on
        .iter()
        .chain(&progress.awaits)
        .filter_map(|id| {
            let state = conduct.state(id)?;
            (!state.is_met()).then(|| format!("{id} ({state})"))
        })
        .collect();
    format!("waits for {}", waits.join(", "))
}

fn ticket(text: &mut String, conduct: &Conduct, progress: &Progress) {
    let _ = write!(text, "\n## {}: {}\n\n", progress.ticket.id, progress.ticket.title);
    let _ = write!(text, "State: {}.", progress.state);
    match &progress.origin {
        Origin::Track => {}
        Origin::Person { by } => _ = write!(text, " Added by {by}."),
        Origin::Split { of } => _ = write!(text, " A part of {of}."),
        Origin::Found { by } => _ = write!(text, " Found by the worker of {by}."),
        Origin::Resolver { of, .. } => _ = write!(text, " Resolves the conflict of {of}."),
    }
    match (&progress.merged, &progress.via) {
        (_, Some(via)) => _ = write!(text, " Brought in by {via}."),
        (Some(commit), None) => _ = write!(text, " Merged as {}.", super::commit(commit)),
        (None, None) => {}
    }
    match conduct.check_of(&progress.ticket) {
        Some(check) => _ = write!(text, " Check: `{check}`."),
        None => text.push_str(" No check is configured."),
    }
    text.push('\n');
    for fell_back in &progress.fell_back {
        let (_, persona, reason) = fell_back;
        let _ = writeln!(
            text,
            "\nWarning: the persona {persona} could not be loaded ({reason}). The defaults took over."
        );
    }
    for one in &progress.attempts {
        attempt(text, one);
    }
    for round in &progress.rounds {
        let (number, model) = (round.number, &round.model);
        let verdict = match (&round.review, &round.fault) {
            (Some(review), _) => {
                let findings = review.findings.iter().map(|it| format!("\n  - {}", super::finding(it)));
                format!("{:?}: {}{}", review.verdict, review.summary.trim(), findings.collect::<String>())
            }
            (None, Some(broken)) => fault(broken),
            (None, None) => "under way".to_owned(),
        };
        let _ = writeln!(text, "- Review {number} with {model}: {verdict}");
    }
    for order in &progress.orders {
        let done = match order.kind {
            OrderKind::Accepted => "Accepted",
            OrderKind::Retried => "Tried again",
            OrderKind::Cancelled => "Cancelled",
        };
        let note = if order.note.is_empty() { String::new() } else { format!(": {}", order.note.trim()) };
        let _ = writeln!(text, "\n- {done} by {}{note}", order.by);
    }
}

fn attempt(text: &mut String, attempt: &Attempt) {
    let persona = attempt.persona.as_ref().map_or_else(String::new, |name| format!(" by {name}"));
    let _ = write!(text, "\n- Attempt {}{persona} with {}", attempt.number, attempt.model);
    if let Some(submission) = &attempt.submission {
        let outcome = match submission.outcome {
            Outcome::Done => "",
            Outcome::NoChange => " (no change)",
            Outcome::Blocked => " (blocked)",
            Outcome::Partial => " (in part)",
        };
        let _ = write!(text, "{outcome}: {}", submission.summary.trim());
    }
    if let Some(broken) = &attempt.fault {
        let stop = if attempt.submission.is_some() { "" } else { "." };
        let _ = write!(text, "{stop} Ended: {}.", first_line(&fault(broken)));
    }
    if let Some(verdict) = &attempt.verdict {
        for one in &verdict.objections {
            let _ = write!(text, "\n  - {}", first_line(&objection(one)));
        }
    }
    if let Some(run) = &attempt.run {
        let _ = write!(text, "\n  - {} after {} s", super::ended(run), run.seconds);
    }
    text.push('\n');
}

fn escalations(progress: &Progress) -> u32 {
    let changes = progress.attempts.windows(2).filter(|pair| pair[0].model != pair[1].model);
    u32::try_from(changes.count()).unwrap_or(u32::MAX)
}

fn spent(spent: Spent) -> String {
    let Spent { tokens, cost, unpriced_tokens } = spent;
    match (tokens, unpriced_tokens) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => format!("{tokens} tokens, cost {cost}"),
        (_, unpriced) if unpriced == tokens => format!("{tokens} tokens, cost unknown"),
        (_, unpriced) => {
            format!("{tokens} tokens, cost {cost} and that of {unpriced} tokens without a price")
        }
    }
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

fn elapsed(from: DateTime<Utc>, to: DateTime<Utc>) -> String {
    let seconds = (to - from).num_seconds().max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
