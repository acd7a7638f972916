//! The messages that begin the sessions of a track. Models read them.

use std::fmt::Write as _;

use conductor::{CheckRun, Fault, Finding, Objection, Submission, Ticket, TicketId, Track};

use super::wording;

/// Characters of a diff that a reviewer is sent. The rest is read with tools.
const DIFF_CHARS: usize = 60_000;
/// Characters of a check's output.
const OUTPUT_CHARS: usize = 8_000;

/// The first message of a worker.
pub(super) fn work(track: &Track, ticket: &Ticket, handover: Option<&str>, is_isolated: bool) -> String {
    let mut text = assignment(track, ticket);
    let place = match is_isolated {
        true => {
            "Your root is a checkout of your own. What is in it when you hand in is what counts; commits are \
             made for you."
        }
        false => "Your root is the project itself. Change only what the ticket needs.",
    };
    let _ = write!(text, "\n\n## Where\n{place}");
    if !ticket.files.is_empty() {
        let _ = write!(text, "\n\nRead first: {}.", ticket.files.join(", "));
    }
    let scope = if ticket.scope.is_empty() { &track.scope } else { &ticket.scope };
    if !scope.is_empty() {
        let _ = write!(text, "\n\nChange only paths that match: {}.", scope.join(", "));
    }
    if let Some(handover) = handover {
        let _ = write!(text, "\n\n## What was tried before\n{handover}");
    }
    text.push_str("\n\nWork the ticket now. Hand the result in with `submit_work`.");
    text
}

/// Goal, title, description, criteria and check of a ticket.
pub(super) fn assignment(track: &Track, ticket: &Ticket) -> String {
    let mut text = format!("# {}: {}", ticket.id, ticket.title);
    if !track.goal.is_empty() {
        let _ = write!(text, "\n\n## The goal of the track\n{}", track.goal.trim());
    }
    if !ticket.description.is_empty() {
        let _ = write!(text, "\n\n## The ticket\n{}", ticket.description.trim());
    }
    if !ticket.acceptance.is_empty() {
        text.push_str("\n\n## Criteria");
        for criterion in &ticket.acceptance {
            let _ = write!(text, "\n- {}", criterion.trim());
        }
    }
    if let Some(check) = ticket.check.as_ref().or(track.check.as_ref()) {
        let _ = write!(text, "\n\n## The check\n`{check}`\n\nIt is run again in a fresh checkout.");
    }
    text
}

/// The message of another attempt in the same session. Its number makes it one of a kind.
pub(super) fn again(attempt: u32, reasons: &[String]) -> String {
    let mut text = format!("Attempt {attempt}. The one before did not suffice:\n");
    for reason in reasons {
        let _ = write!(text, "\n- {reason}");
    }
    text.push_str("\n\nMend each point, and nothing else. Then hand in again with `submit_work`.");
    text
}

/// The message of another attempt in the same session, after something that was not the worker's doing. Its
/// number makes it one of a kind.
pub(super) fn go_on(attempt: u32, fault: &Fault) -> String {
    format!(
        "Attempt {attempt}. The one before was held up: {}. Go on where you stopped.",
        wording::fault(fault)
    )
}

/// The message that brings a person's answer. The number of the question makes it one of a kind.
pub(super) fn answer(question: usize, answer: &str) -> String {
    format!("The answer to question {question}:\n\n{answer}\n\nGo on with the ticket.")
}

/// The part of a resolver's message with the change that conflicts.
pub(super) fn to_bring_in(of: &TicketId, diff: &str) -> String {
    format!(
        "\n\n## The change to bring in\nThis is what {of} changed, on an older base. Your checkout has what \
         others merged since. Make the same change there, so that both hold.\n{}",
        fenced("diff", diff, DIFF_CHARS)
    )
}

/// What a reviewer is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReviewMatter<'a> {
    /// `None` without git.
    pub(super) diff: Option<&'a str>,
    pub(super) check: Option<&'a CheckRun>,
    /// What verification noticed and did not reject.
    pub(super) objections: &'a [Objection],
    pub(super) submission: Option<&'a Submission>,
    pub(super) open: &'a [Finding],
    pub(super) round: u32,
}

/// The first message of a reviewer: ticket, diff, check, and the worker's story last.
pub(super) fn review(track: &Track, ticket: &Ticket, matter: &ReviewMatter<'_>) -> String {
    let mut text = assignment(track, ticket);
    if matter.round > 1 {
        let _ =
            write!(text, "\n\n## Round {}\nLook at these findings and at what changed since:", matter.round);
        for finding in matter.open {
            let _ = write!(text, "\n- {}", said(finding));
        }
    }
    match matter.diff {
        Some(diff) => {
            let _ = write!(text, "\n\n## The change\n{}", fenced("diff", diff, DIFF_CHARS));
        }
        None => text.push_str("\n\n## The change\nIt is made in your root. There is no diff of it."),
    }
    match matter.check {
        Some(run) => {
            let end = run.exit_code.map_or("did not end".to_owned(), |code| format!("ended with {code}"));
            let output = fenced("text", &run.output, OUTPUT_CHARS);
            let _ = write!(text, "\n\n## The check\n`{}` {end}.\n{output}", run.command);
        }
        None => text.push_str("\n\n## The check\nNone is configured."),
    }
    if !matter.objections.is_empty() {
        text.push_str("\n\n## What the conductor noticed");
        for objection in matter.objections {
            let _ = write!(text, "\n- {}", wording::objection(objection));
        }
    }
    if let Some(submission) = matter.submission {
        let _ = write!(text, "\n\n## What the worker says\n{}", submission.summary.trim());
        for decision in &submission.decisions {
            let _ = write!(text, "\n- Decided: {} Rejected: {}", decision.decision, decision.rejected);
        }
        for change in &submission.test_changes {
            let _ = write!(text, "\n- Changed the test {}: {}", change.test, change.why);
        }
        for question in &submission.open_questions {
            let _ = write!(text, "\n- Open: {question}");
        }
    }
    text.push_str("\n\nReview the change now. Hand your verdict in with `submit_review`.");
    text
}

/// The first message of the tech lead who breaks a ticket down.
pub(super) fn split(track: &Track, ticket: &Ticket, handover: &str) -> String {
    format!(
        "{}\n\n## What was tried\n{handover}\n\nBreak the ticket down now. Hand the tickets in with \
         `submit_tickets`, with ids that begin with `{}-`.",
        assignment(track, ticket),
        ticket.id
    )
}

/// The first message of the orchestrator who drafts a track.
pub(super) fn draft(epic: &str) -> String {
    format!("# The epic\n{}\n\nDraft the track now. Hand it in with `submit_track`.", epic.trim())
}

/// The message to a session that ended without handing anything in.
pub(super) fn remind(tool: &str) -> String {
    format!("Your turn ended, and nothing was handed in. Finish, and hand in with `{tool}`.")
}

fn said(finding: &Finding) -> String {
    format!("{}:{}: {}", finding.path, finding.line, finding.scenario)
}

/// A text in a fence that it cannot close, shortened visibly.
fn fenced(language: &str, text: &str, most: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let shown = match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\n… ({} bytes in all)", &text[..end], text.len()),
        None => text.trim_end().to_owned(),
    };
    format!("{fence}{language}\n{shown}\n{fence}")
}
