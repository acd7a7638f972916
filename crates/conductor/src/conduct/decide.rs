//! Commands, turned into events.

use chrono::{DateTime, Utc};

use super::{Conduct, Ending, Progress};
use crate::limits::MESSAGE_BYTES;
use crate::{Command, Event, Refusal, TicketId};

impl Conduct {
    /// The events that a command leads to at this time. They are not folded in. No events: what the
    /// command asks for is so already.
    pub fn decide(&self, command: &Command, at: DateTime<Utc>) -> Result<Vec<Event>, Refusal> {
        use Command as C;
        if self.newer {
            return Err(Refusal::Newer);
        }
        if !matches!(command, C::Open { .. } | C::CancelTrack { .. }) && self.opened.is_none() {
            return Err(Refusal::NotOpen);
        }
        match command {
            C::Open { isolation, plan, concurrency, by } => {
                self.open_track(*isolation, *plan, *concurrency, by)
            }
            C::Approve { tickets, by } => self.approve_plan(tickets, by),
            C::ApproveStep { ticket, by } => self.approve_step(ticket, by),
            C::Pause { by } => self.pause(by),
            C::Resume { by } => self.resume_track(by),
            C::CancelTrack { by, reason } => self.cancel_track(by, reason),
            C::AddTickets { tickets, by } => self.add_tickets(tickets, by),
            C::Retry { .. } => self.retry(command),
            C::Cancel { ticket, by, reason } => self.cancel(ticket, by, reason),
            C::Answer { ticket, answer, by } => self.answer(ticket, answer, by),
            C::ApproveResult { ticket, by, note } => self.approve_result(ticket, by, note),
            C::RejectResult { ticket, by, note, findings } => self.reject_result(ticket, by, note, findings),
            C::RaiseCap { account, cap, by } => self.change_cap(account, *cap, by),
            C::Start { step, session, casting } => self.start(step, *session, casting.as_ref(), at),
            C::Prepared { ticket, base, branch, baseline } => {
                self.prepared(ticket, base.as_ref(), branch.as_ref(), baseline.as_ref(), at)
            }
            C::Ask { ticket, attempt, question } => self.ask(ticket, *attempt, question),
            C::ReportBlocked { ticket, attempt, reason } => self.report_blocked(ticket, *attempt, reason),
            C::Checkpoint { ticket, attempt, reference, commit } => {
                self.checkpoint(ticket, *attempt, reference, commit)
            }
            C::Submit { ticket, attempt, head, submission } => {
                self.submit(ticket, *attempt, head.as_ref(), submission)
            }
            C::Verified { ticket, attempt, verdict, run } => {
                self.verified(ticket, *attempt, verdict, run.as_ref())
            }
            C::Reviewed { ticket, round, review } => self.reviewed(ticket, *round, review),
            C::Split { ticket, tickets } => self.split(ticket, tickets),
            C::Integrated { ticket, commit } => self.integrated(ticket, commit.as_ref()),
            C::Conflicted { ticket, paths, with } => self.conflicted(ticket, paths, with),
            C::RedTogether { ticket, run, with } => self.red_together(ticket, run, with),
            C::Failed { step, fault } => self.failed(step, fault, at),
            C::WarnCap { account, unit } => Ok(self.warn_cap(account, *unit)),
            C::Finish => self.finish(),
        }
    }

    /// The ticket with its place.
    pub(super) fn find(&self, id: &TicketId) -> Result<(usize, &Progress), Refusal> {
        match self.index.get(id).copied() {
            Some(place) => Ok((place, &self.tickets[place])),
            None => {
                let known = self.index.keys().map(TicketId::as_str);
                let candidates =
                    persona::nearest(id.as_str(), known).into_iter().map(str::to_owned).collect();
                Err(Refusal::UnknownTicket { ticket: id.clone(), candidates })
            }
        }
    }

    /// Fails if the track was cancelled. One that finished goes on if a person adds to it.
    pub(super) fn check_not_cancelled(&self) -> Result<(), Refusal> {
        if self.ending == Some(Ending::Cancelled) { Err(Refusal::Ended) } else { Ok(()) }
    }

    pub(super) fn check_not_ended(&self) -> Result<(), Refusal> {
        if self.ending.is_some() { Err(Refusal::Ended) } else { Ok(()) }
    }
}

pub(super) fn wrong_state(progress: &Progress) -> Refusal {
    Refusal::WrongState { ticket: progress.id().clone(), state: progress.state }
}

/// Fails if a message is too long for the log.
pub(super) fn check_message(what: &'static str, text: &str) -> Result<(), Refusal> {
    match text.len() {
        got if got > MESSAGE_BYTES => Err(Refusal::TooMuch { what, unit: "bytes", got, most: MESSAGE_BYTES }),
        _ => Ok(()),
    }
}
