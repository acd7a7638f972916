//! What the next worker of a ticket learns from those before: what was decided, tried, and failed.

use conductor::limits::{HANDOVER_ATTEMPTS, HANDOVER_LINES, HANDOVER_TOKENS};
use conductor::{Attempt, CheckRun, CriterionStatus, Progress, State};
use persona::TokenCounter as _;

use super::wording;
use crate::Tokenizer;

/// The handover of a ticket, within its limit of tokens. The goal and the ticket itself come before it in the
/// message. What matters most for the next attempt comes first, and an entry that does not fit is skipped.
pub(super) fn handover(progress: &Progress) -> String {
    let mut entries: Vec<String> = Vec::new();
    let last = progress.attempts.iter().rev().take(HANDOVER_ATTEMPTS);
    let reasons: Vec<String> = progress.evidence.iter().map(wording::evidence).collect();
    if !reasons.is_empty() {
        entries.push(format!("Why you are asked: {}", reasons.join("; ")));
    }
    entries.extend(criteria(progress));
    for attempt in last.clone() {
        entries.push(tried(attempt));
    }
    entries.extend(last.clone().filter_map(failed_check));
    entries.extend(last.clone().flat_map(decisions));
    entries.extend(commits(progress));
    entries.extend(
        progress
            .open_findings()
            .iter()
            .map(|it| format!("Open finding: {}:{}: {}", it.path, it.line, it.scenario)),
    );
    fit(entries)
}

fn fit(entries: Vec<String>) -> String {
    let mut text = String::new();
    for entry in entries {
        let longer = if text.is_empty() { format!("- {entry}") } else { format!("{text}\n- {entry}") };
        if Tokenizer.count(&longer) <= HANDOVER_TOKENS {
            text = longer;
        }
    }
    text
}

/// The criteria and their state, as the last submission has them.
fn criteria(progress: &Progress) -> Vec<String> {
    let submission = progress.attempts.iter().rev().find_map(|attempt| attempt.submission.as_ref());
    let reports = submission.map(|submission| submission.criteria.as_slice()).unwrap_or_default();
    let state = |status| match status {
        CriterionStatus::Met => "said to be met",
        CriterionStatus::NotMet => "not met",
        CriterionStatus::Unknown => "unknown",
    };
    reports.iter().map(|it| format!("Criterion {:?}: {}", it.criterion, state(it.status))).collect()
}

fn tried(attempt: &Attempt) -> String {
    let mut text = format!("Attempt {} with {}", attempt.number, attempt.model);
    if let Some(submission) = &attempt.submission {
        text.push_str(&format!(": {}", submission.summary.trim()));
    }
    if let Some(fault) = &attempt.fault {
        text.push_str(&format!("; it ended because {}", wording::fault(fault)));
    }
    let objections = attempt.verdict.iter().flat_map(|verdict| &verdict.objections);
    for objection in objections {
        let sentence = wording::objection(objection);
        text.push_str(&format!("; rejected: {}", sentence.lines().next().unwrap_or_default()));
    }
    text
}

/// The end of a red check's output, and the command to run next.
fn failed_check(attempt: &Attempt) -> Option<String> {
    let run: &CheckRun = attempt.run.as_ref().filter(|run| !run.is_green())?;
    let lines: Vec<&str> = run.output.lines().collect();
    let end = lines[lines.len().saturating_sub(HANDOVER_LINES)..].join("\n  ");
    Some(format!("After attempt {}, `{}` failed. Run it first:\n  {end}", attempt.number, run.command))
}

fn decisions(attempt: &Attempt) -> Vec<String> {
    let decisions = attempt.submission.iter().flat_map(|submission| &submission.decisions);
    let text = |decided: &conductor::Decision| match decided.rejected.trim() {
        "" => format!("Decided: {}", decided.decision),
        rejected => format!("Decided: {} Rejected: {rejected}", decided.decision),
    };
    decisions.map(text).collect()
}

fn commits(progress: &Progress) -> Option<String> {
    let (base, head) = (progress.base.as_deref()?, progress.head());
    let kept = progress.attempts.iter().rev().find_map(|it| it.checkpoint.as_ref()).map(|(_, commit)| commit);
    let is_there = progress.state != State::Ready;
    is_there.then(|| match head.or(kept.map(String::as_str)) {
        Some(head) => format!("The base is {base}, the last work is {head}; your files have it."),
        None => format!("The base is {base}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_does_not_fit_is_skipped() {
        let long = "word ".repeat(2 * HANDOVER_TOKENS);
        let text = fit(vec!["first".to_owned(), long, "last".to_owned()]);
        assert_eq!(text, "- first\n- last");
    }
}
