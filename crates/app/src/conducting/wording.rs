//! The words of tracks: needs, evidence, objections and faults as sentences for people and models.

use conductor::{
    Account, ApprovalReason, CapUnit, CheckRun, Evidence, Fault, Finding, Need, Objection, Signal, StepKind,
    TicketId,
};

mod report;
pub(super) use report::report;

/// Entries of a list in a sentence.
const LISTED: usize = 8;
/// Characters of a quoted text.
const QUOTED: usize = 400;

/// What a person is needed for.
pub fn need(need: &Need) -> String {
    match need {
        Need::Answer { question } => format!("asks: {}", short(question)),
        Need::Approval { why } => match why {
            ApprovalReason::Unverified => "has no check: look at the result, then accept or reject it",
            ApprovalReason::NoChange => "says that nothing had to be changed: accept or reject that",
            ApprovalReason::NoReview => "got no review: look at the result, then accept or reject it",
        }
        .to_owned(),
        Need::Plan => "was planned by a model: approve it, or cancel it".to_owned(),
        Need::Step { step } => format!("waits for approval of its next step: {}", step_name(*step)),
        Need::Cap { account, unit } => {
            format!(
                "reached the cap in {} of {}: raise the cap, or cancel",
                unit_name(*unit),
                account_name(account)
            )
        }
        Need::Price { model } => {
            format!("cannot count the cost of {model}: give it a price, or remove the cap in money")
        }
        Need::Unblock { reason } => format!("cannot go on: {}", short(reason)),
        Need::Setup { message } => format!("could not be set up: {}", short(message)),
        Need::Baseline { command } => {
            format!("starts from a base on which `{command}` fails: mend the base, then retry")
        }
        Need::Decision => "has tried everything: retry with another model or persona, or cancel".to_owned(),
    }
}

fn step_name(step: StepKind) -> &'static str {
    match step {
        StepKind::Prepare => "prepare its worktree",
        StepKind::Work => "let the worker go on",
        StepKind::Verify => "check the result",
        StepKind::Review => "review the result",
        StepKind::Split => "break the ticket down",
        StepKind::Integrate => "merge the result",
        StepKind::Finish => "write the report",
    }
}

fn unit_name(unit: CapUnit) -> &'static str {
    match unit {
        CapUnit::Tokens => "tokens",
        CapUnit::Cost => "money",
    }
}

fn account_name(account: &Account) -> String {
    match account {
        Account::Ticket { ticket } => format!("ticket {ticket}"),
        Account::Track => "the track".to_owned(),
        Account::Day { day } => format!("the day {day}"),
    }
}

/// The way in which a step failed.
pub fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Transport { message } => format!("the call of the model failed: {}", short(message)),
        Fault::Setup { message, run: None } => format!("the setup failed: {}", short(message)),
        Fault::Setup { message, run: Some(run) } => {
            format!("the setup failed: {}; {}", short(message), ended(run))
        }
        Fault::RedBaseline { run } => format!("the check fails before anything is changed: {}", ended(run)),
        Fault::Model { message } => format!("the model cannot do it: {}", short(message)),
        Fault::Stuck { signal } => format!("the worker is stuck: {}", self::signal(signal)),
        Fault::NoSubmission => "the turn ended, and nothing was handed in".to_owned(),
        Fault::Cap { account, unit } => {
            format!("the cap in {} of {} allows no further call", unit_name(*unit), account_name(account))
        }
        Fault::Unpriced { model } => format!("{model} has no price, and a cap in money is set"),
        Fault::Machine { message } => format!("the machine failed: {}", short(message)),
    }
}

fn signal(signal: &Signal) -> String {
    match signal {
        Signal::SameAction { tool, times } => format!("`{tool}` had the same result {times} times in a row"),
        Signal::BackAndForth { tools: [first, second], times } => {
            format!("`{first}` and `{second}` took turns {times} times with the same results")
        }
        Signal::ErrorsInARow { tool, times } => format!("`{tool}` failed {times} times in a row"),
        Signal::NoProgress { tokens } => format!("it spent {tokens} tokens without a change of its files"),
        Signal::SameCheckFails { command, times } => {
            format!("`{command}` failed in the same way {times} times")
        }
        Signal::Silent { seconds } => format!("nothing was heard of it for {seconds} seconds"),
    }
}

/// A reason for a decision.
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Fault { fault, .. } => self::fault(fault),
        Evidence::Repeated { times } => format!("that happened {times} times in a row"),
        Evidence::RedCheck { run, .. } => format!("the check is red: {}", quoted(run)),
        Evidence::Rejected { objections, .. } => {
            objections.iter().map(objection).collect::<Vec<_>>().join("; ")
        }
        Evidence::Partial { open, .. } if open.is_empty() => "the worker says that a part is left".to_owned(),
        Evidence::Partial { open, .. } => format!("a part is left: {}", list(open)),
        Evidence::ReportedBlocked { reason, .. } => format!("the worker cannot go on: {}", short(reason)),
        Evidence::Unverified { .. } => "no check proves the result".to_owned(),
        Evidence::NoChangeClaimed { .. } => "the worker says that nothing had to be changed".to_owned(),
        Evidence::ReviewFindings { findings, .. } => {
            format!("the review found: {}", findings.iter().map(finding).collect::<Vec<_>>().join("; "))
        }
        Evidence::ReviewBlocked { summary, findings, .. } => {
            let found: Vec<String> = findings.iter().map(finding).collect();
            format!("the reviewer rejects the approach: {} {}", short(summary), found.join("; "))
                .trim_end()
                .to_owned()
        }
        Evidence::ReviewRoundsUsed { rounds } => format!("{rounds} rounds of review did not pass it"),
        Evidence::ModelsUsed { models } if models.is_empty() => "no model can be called".to_owned(),
        Evidence::ModelsUsed { models } => format!("all models failed: {}", list(models)),
        Evidence::SplitUsed { .. } => "it was broken down before".to_owned(),
        Evidence::SplitFailed { fault } => format!("breaking it down failed: {}", self::fault(fault)),
        Evidence::Conflict { paths, with } => {
            format!("it conflicts{} in {}", with_tickets(with), list(paths))
        }
        Evidence::RedTogether { run, with } => {
            format!("the check is red together with what is merged{}: {}", with_tickets(with), quoted(run))
        }
        Evidence::ResolverFailed { resolver } => {
            format!("{resolver}, which was to resolve its conflict, failed")
        }
        Evidence::PartsMerged { parts } => format!("its parts are merged: {}", list(parts)),
        Evidence::Person { by, note } if note.is_empty() => format!("{by} decided so"),
        Evidence::Person { by, note } => format!("{by}: {}", short(note)),
        Evidence::FailedInARow { tickets } => format!("these failed in a row: {}", list(tickets)),
    }
}

fn with_tickets(with: &[TicketId]) -> String {
    if with.is_empty() { String::new() } else { format!(" with {}", list(with)) }
}

fn finding(finding: &Finding) -> String {
    format!("{}:{}: {}", finding.path, finding.line, short(&finding.scenario))
}

/// One thing that is wrong with a submission, or worth a look.
pub fn objection(objection: &Objection) -> String {
    let declared =
        |declared: bool| if declared { ", as the report says" } else { ", and the report hides it" };
    match objection {
        Objection::NotDescended { base, head } => {
            format!("the commit {} does not descend from {}", commit(head), commit(base))
        }
        Objection::DirtyTree { paths } => format!("files are not committed: {}", list(paths)),
        Objection::NothingChanged => "nothing was changed".to_owned(),
        Objection::ChangedAnyway { paths } => {
            format!("the report says that nothing had to be changed, but this changed: {}", list(paths))
        }
        Objection::OutOfScope { paths, scope } => {
            format!("these paths are outside of the ticket's scope ({}): {}", scope.join(", "), list(paths))
        }
        Objection::RedCheck { run } => format!("the check is red: {}", quoted(run)),
        Objection::RedWithBaseTests { run, tests, declared: known } => format!(
            "with the tests of the base the check is red (changed: {}{}): {}",
            list(tests),
            declared(*known),
            quoted(run)
        ),
        Objection::TestsDeleted { tests, declared: known } => {
            format!("tests were deleted{}: {}", declared(*known), list(tests))
        }
        Objection::TestsSkipped { tests, declared: known } => {
            format!("tests are skipped{}: {}", declared(*known), list(tests))
        }
        Objection::FewerTests { base, head, declared: known } => {
            format!("{head} tests run, where the base has {base}{}", declared(*known))
        }
        Objection::ClaimNotRun { command } => {
            format!("the report names `{command}`, which did not succeed in this session")
        }
        Objection::PassClaimedWithoutRun { claim } => {
            format!("the report says {claim:?}, but no test was run")
        }
        Objection::CriterionNotMet { criterion } => format!("not met: {}", short(criterion)),
        Objection::CriterionMissing { criterion } => format!("the report leaves out: {}", short(criterion)),
        Objection::NoProof { criterion } => format!("no proof is given for: {}", short(criterion)),
        Objection::NoSuchPlace { place } => format!("{place} does not exist"),
    }
}

/// How a command ended, with the end of what it wrote.
fn quoted(run: &CheckRun) -> String {
    let output = run.output.trim();
    if output.is_empty() { ended(run) } else { format!("{}\n{}", ended(run), end_of(output)) }
}

/// How a command ended.
fn ended(run: &CheckRun) -> String {
    match run.exit_code {
        _ if run.timed_out => format!("`{}` did not end in time", run.command),
        Some(code) => format!("`{}` ended with {code}", run.command),
        None => format!("`{}` was ended from outside", run.command),
    }
}

fn list<T: ToString>(entries: &[T]) -> String {
    let mut text = entries.iter().take(LISTED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if let Some(more) = entries.len().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// The beginning of a commit's name.
fn commit(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// The beginning of a text.
fn short(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The end of a text.
fn end_of(text: &str) -> String {
    let count = text.chars().count();
    match text.char_indices().nth(count.saturating_sub(3 * QUOTED)) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
