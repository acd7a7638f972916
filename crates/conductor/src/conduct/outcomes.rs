//! Outcomes of steps, each with the decision that follows from it.
//!
//! An outcome counts for the step at hand alone: the number and the state must fit. A late one, of a
//! worker that was given up, changes nothing.

use chrono::{DateTime, Utc};

use super::decide::check_message;
use super::{Conduct, Progress};
use crate::ladder::{Reviewer, Way};
use crate::limits::{PATHS, QUESTIONS};
use crate::{
    ApprovalReason, CheckRun, CriterionStatus, Event, Evidence, Fault, FindingSeverity, Need, Next, Origin,
    Outcome, PauseCause, Refusal, Review, ReviewVerdict, Ruling, State, StepKey, StepKind, Submission,
    TicketId, Verdict,
};

type Decided = Result<Vec<Event>, Refusal>;

impl Conduct {
    /// The decision about a ticket; if it fails with others in a row, the track pauses.
    pub(super) fn go_on(&self, progress: &Progress, (next, evidence): Way) -> Vec<Event> {
        let fails = next == Next::Fail;
        let ticket = progress.id().clone();
        let mut events = vec![Event::Decided { ticket, next, evidence }];
        let most = self.policy().failures as usize;
        if fails && most > 0 && self.paused.is_none() {
            let mut tickets = self.failed_in_a_row.clone();
            if !tickets.contains(progress.id()) {
                tickets.push(progress.id().clone());
            }
            if tickets.len() >= most {
                events.push(Event::Paused { cause: PauseCause::Failures { tickets } });
            }
        }
        events
    }

    /// The ticket whose step at hand this is.
    fn at_hand(&self, ticket: &TicketId, kind: StepKind, number: Option<u32>) -> Result<&Progress, Refusal> {
        let (_, progress) = self.find(ticket)?;
        match progress.stage() {
            Some((of, made)) if is_running(progress) && of == kind && number.is_none_or(|it| it == made) => {
                Ok(progress)
            }
            _ => {
                let number = number.unwrap_or_default();
                let step = StepKey { ticket: Some(ticket.clone()), kind, number };
                Err(Refusal::Stale { step: step.to_string() })
            }
        }
    }

    pub(super) fn prepared(
        &self,
        ticket: &TicketId,
        base: Option<&String>,
        branch: Option<&String>,
        baseline: Option<&CheckRun>,
        at: DateTime<Utc>,
    ) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Prepare, None)?;
        if let Some(run) = baseline.filter(|run| !run.is_green() && !progress.accepts_red_base) {
            let step =
                StepKey { ticket: Some(ticket.clone()), kind: StepKind::Prepare, number: progress.setups };
            return self.failed(&step, &Fault::RedBaseline { run: run.clone() }, at);
        }
        Ok(vec![Event::Prepared {
            ticket: ticket.clone(),
            base: base.cloned(),
            branch: branch.cloned(),
            baseline: baseline.cloned(),
        }])
    }

    /// A question of a worker, or of a tech lead that breaks the ticket down.
    pub(super) fn ask(&self, ticket: &TicketId, attempt: u32, question: &str) -> Decided {
        check_message("the question", question)?;
        let (_, progress) = self.find(ticket)?;
        let kind = if progress.is_splitting() { StepKind::Split } else { StepKind::Work };
        let progress = self.at_hand(ticket, kind, Some(attempt))?;
        let asked = progress.attempt().map_or(0, |attempt| attempt.questions.len());
        if kind == StepKind::Work && asked >= QUESTIONS as usize {
            let most = QUESTIONS as usize;
            return Err(Refusal::TooMuch { what: "the attempt", unit: "questions", got: asked + 1, most });
        }
        Ok(vec![Event::Asked { ticket: ticket.clone(), attempt, question: question.to_owned() }])
    }

    pub(super) fn report_blocked(&self, ticket: &TicketId, attempt: u32, reason: &str) -> Decided {
        check_message("the reason", reason)?;
        let progress = self.at_hand(ticket, StepKind::Work, Some(attempt))?;
        let reported = Event::ReportedBlocked { ticket: ticket.clone(), attempt, reason: reason.to_owned() };
        let mut events = vec![reported];
        events.extend(self.go_on(progress, blocked(attempt, reason)));
        Ok(events)
    }

    /// Keeps work in progress. A worker whose question is open may still do so.
    pub(super) fn checkpoint(
        &self,
        ticket: &TicketId,
        attempt: u32,
        reference: &str,
        commit: &str,
    ) -> Decided {
        let (_, progress) = self.find(ticket)?;
        let is_current = progress.begun
            && matches!(progress.state, State::Working | State::NeedsInput)
            && progress.attempt().is_some_and(|it| it.number == attempt);
        if !is_current {
            let step = StepKey { ticket: Some(ticket.clone()), kind: StepKind::Work, number: attempt };
            return Err(Refusal::Stale { step: step.to_string() });
        }
        let (reference, commit) = (reference.to_owned(), commit.to_owned());
        Ok(vec![Event::Checkpointed { ticket: ticket.clone(), attempt, reference, commit }])
    }

    pub(super) fn submit(
        &self,
        ticket: &TicketId,
        attempt: u32,
        head: Option<&String>,
        submission: &Submission,
    ) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Work, Some(attempt))?;
        let submitted = Event::Submitted {
            ticket: ticket.clone(),
            attempt,
            head: head.cloned(),
            submission: submission.clone(),
        };
        let mut events = vec![submitted];
        match submission.outcome {
            Outcome::Done | Outcome::NoChange => {}
            Outcome::Partial => {
                let open = submission.criteria.iter().filter(|it| it.status != CriterionStatus::Met);
                let open = open.map(|it| it.criterion.clone()).collect();
                let evidence = vec![Evidence::Partial { attempt, open }];
                events.extend(self.go_on(progress, progress.climb.setback(self.policy(), evidence, false)));
            }
            Outcome::Blocked => events.extend(self.go_on(progress, blocked(attempt, &submission.summary))),
        }
        events.extend(self.found(ticket, &submission.out_of_scope));
        Ok(events)
    }

    pub(super) fn verified(
        &self,
        ticket: &TicketId,
        attempt: u32,
        verdict: &Verdict,
        run: Option<&CheckRun>,
    ) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Verify, Some(attempt))?;
        let way = match verdict.ruling {
            Ruling::Rejected => progress.climb.after_verdict(self.policy(), attempt, verdict),
            Ruling::Accepted | Ruling::Unverified if self.track.review.enabled => {
                let made = u32::try_from(progress.rounds.len()).unwrap_or(u32::MAX);
                (Next::Review { round: made.saturating_add(1) }, unverified(attempt, verdict))
            }
            Ruling::Accepted | Ruling::Unverified => without_review(progress, attempt, verdict),
        };
        let (ticket, verdict, run) = (ticket.clone(), verdict.clone(), run.cloned());
        let mut events = vec![Event::Checked { ticket, attempt, verdict, run }];
        events.extend(self.go_on(progress, way));
        Ok(events)
    }

    pub(super) fn reviewed(&self, ticket: &TicketId, round: u32, review: &Review) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Review, Some(round))?;
        let findings = review.findings.clone();
        // A pass with a grave finding contradicts itself: the finding counts.
        let is_grave = findings.iter().any(|finding| finding.severity > FindingSeverity::Minor);
        let way = match review.verdict {
            ReviewVerdict::Pass if !is_grave => after_pass(progress, round, review),
            ReviewVerdict::Pass | ReviewVerdict::Rework => {
                let evidence = vec![Evidence::ReviewFindings { round, findings }];
                progress.climb.after_rework(self.policy(), self.track.review.rounds, evidence)
            }
            ReviewVerdict::Block => {
                let summary = review.summary.clone();
                let evidence = vec![Evidence::ReviewBlocked { round, summary, findings }];
                progress.climb.next_model(self.policy(), evidence, false)
            }
        };
        let mut events = vec![Event::Reviewed { ticket: ticket.clone(), round, review: review.clone() }];
        events.extend(self.go_on(progress, way));
        Ok(events)
    }

    /// The target has the ticket's commits, and those of the ticket whose conflict it resolves.
    pub(super) fn integrated(&self, ticket: &TicketId, commit: Option<&String>) -> Decided {
        let (_, progress) = self.find(ticket)?;
        let is_at_hand = progress.state == State::Integrating && progress.begun;
        // A person cancelled it while the target moved: git has the last word.
        let has_landed = progress.state == State::Cancelled && progress.held == Some(State::Integrating);
        if !is_at_hand && !has_landed {
            self.at_hand(ticket, StepKind::Integrate, None)?;
        }
        let merged = |ticket: &TicketId, via| {
            let commit = commit.cloned();
            Event::Merged { ticket: ticket.clone(), commit, via }
        };
        let mut events = vec![merged(ticket, None)];
        if let Origin::Resolver { of, .. } = &progress.origin
            && let Some(resolved) = self.ticket(of)
            && resolved.awaits.contains(ticket)
            && !resolved.state.is_met()
        {
            events.push(merged(of, Some(ticket.clone())));
        }
        Ok(events)
    }

    pub(super) fn conflicted(&self, ticket: &TicketId, paths: &[String], with: &[TicketId]) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Integrate, None)?;
        let paths: Vec<String> = paths.iter().take(PATHS).cloned().collect();
        let evidence = vec![Evidence::Conflict { paths: paths.clone(), with: with.to_vec() }];
        match self.resolver(progress, &paths, with) {
            Some(resolver) => {
                let next = Next::Await { tickets: vec![resolver.id.clone()] };
                let origin = Origin::Resolver { of: ticket.clone(), with: with.to_vec(), paths };
                let entry = crate::Entry::Planned;
                let mut events = vec![Event::TicketsAdded { origin, entry, tickets: vec![resolver] }];
                events.extend(self.go_on(progress, (next, evidence)));
                Ok(events)
            }
            None => Ok(self.go_on(progress, (Next::AskPerson { need: Need::Decision }, evidence))),
        }
    }

    /// Green alone, red with what others merged: the worker mends it upon the target's head.
    pub(super) fn red_together(&self, ticket: &TicketId, run: &CheckRun, with: &[TicketId]) -> Decided {
        let progress = self.at_hand(ticket, StepKind::Integrate, None)?;
        let evidence = vec![Evidence::RedTogether { run: run.clone(), with: with.to_vec() }];
        Ok(self.go_on(progress, progress.climb.setback(self.policy(), evidence, true)))
    }

    pub(super) fn failed(&self, step: &StepKey, fault: &Fault, at: DateTime<Utc>) -> Decided {
        let Some(ticket) = &step.ticket else { return Err(Refusal::Stale { step: step.to_string() }) };
        let progress = self.at_hand(ticket, step.kind, Some(step.number))?;
        let (climb, policy) = (&progress.climb, self.policy());
        let way = match step.kind {
            StepKind::Work => climb.after_fault(policy, step.number, fault, at),
            StepKind::Split => climb.after_split_fault(policy, step.number, fault, at),
            StepKind::Review => {
                let plan = progress.review.as_ref();
                let (rung, models) = plan.map_or((0, 0), |plan| (plan.rung, plan.models));
                climb.after_review_fault(policy, &Reviewer { round: step.number, rung, models }, fault, at)
            }
            _ => climb.after_step_fault(policy, step.number, fault, at),
        };
        let (ticket, fault) = (ticket.clone(), fault.clone());
        let mut events = vec![Event::Faulted { ticket, step: step.kind, number: step.number, fault }];
        events.extend(self.go_on(progress, way));
        Ok(events)
    }
}

/// True if the step at hand was started, and no person was asked since.
fn is_running(progress: &Progress) -> bool {
    progress.begun && !progress.parked
}

fn blocked(attempt: u32, reason: &str) -> Way {
    let reason = reason.to_owned();
    let evidence = vec![Evidence::ReportedBlocked { attempt, reason: reason.clone() }];
    (Next::AskPerson { need: Need::Unblock { reason } }, evidence)
}

/// The facts that a result without a proof carries on its way.
fn unverified(attempt: u32, verdict: &Verdict) -> Vec<Evidence> {
    let is_unverified = verdict.ruling == Ruling::Unverified;
    is_unverified.then_some(Evidence::Unverified { attempt }).into_iter().collect()
}

/// The way of a result that no reviewer looks at.
fn without_review(progress: &Progress, attempt: u32, verdict: &Verdict) -> Way {
    let approval = |why| Next::AskPerson { need: Need::Approval { why } };
    if progress.claims_no_change() {
        return (approval(ApprovalReason::NoChange), vec![Evidence::NoChangeClaimed { attempt }]);
    }
    if verdict.ruling == Ruling::Unverified {
        return (approval(ApprovalReason::Unverified), unverified(attempt, verdict));
    }
    if !verdict.objections.is_empty() {
        // Objections that do not reject are for a reviewer, and there is none.
        let objections = verdict.objections.clone();
        return (approval(ApprovalReason::NoReview), vec![Evidence::Rejected { attempt, objections }]);
    }
    (Next::Queue, Vec::new())
}

/// The way of a result that a reviewer passes.
fn after_pass(progress: &Progress, round: u32, review: &Review) -> Way {
    let mut evidence = Vec::new();
    if !review.findings.is_empty() {
        evidence.push(Evidence::ReviewFindings { round, findings: review.findings.clone() });
    }
    if progress.claims_no_change() {
        return (Next::NoChange, evidence);
    }
    let Some(attempt) = progress.attempt() else { return (Next::Queue, evidence) };
    if attempt.verdict.as_ref().is_none_or(|verdict| verdict.ruling == Ruling::Unverified) {
        evidence.push(Evidence::Unverified { attempt: attempt.number });
        let need = Need::Approval { why: ApprovalReason::Unverified };
        return (Next::AskPerson { need }, evidence);
    }
    (Next::Queue, evidence)
}
