//! Commands of people.

use super::decide::{check_message, wrong_state};
use super::{Conduct, Progress};
use crate::limits::CONCURRENCY;
use crate::{
    Account, Cap, CapAccount, CapUnit, Command, Event, Evidence, FORMAT, Finding, Isolation, Need, Next,
    Origin, PauseCause, PlanApproval, Refusal, State, TicketId,
};

type Decided = Result<Vec<Event>, Refusal>;

impl Conduct {
    pub(super) fn open_track(
        &self,
        isolation: Isolation,
        plan: PlanApproval,
        concurrency: Option<usize>,
        by: &str,
    ) -> Decided {
        self.check_not_cancelled()?;
        if self.opened.is_some() {
            return Err(Refusal::AlreadyOpen);
        }
        if let Some(got) = concurrency.filter(|got| *got > CONCURRENCY) {
            return Err(Refusal::TooMuch { what: "concurrency", unit: "tickets", got, most: CONCURRENCY });
        }
        self.check_track()?;
        Ok(vec![Event::Opened { format: FORMAT, isolation, plan, concurrency, by: by.to_owned() }])
    }

    pub(super) fn approve_plan(&self, tickets: &[TicketId], by: &str) -> Decided {
        self.check_not_cancelled()?;
        for id in tickets {
            let (_, progress) = self.find(id)?;
            if !matches!(progress.state, State::Draft | State::AwaitingApproval) {
                return Err(wrong_state(progress));
            }
        }
        let mut tickets = tickets.to_vec();
        if tickets.is_empty() {
            let planned = self.tickets.iter().filter(|it| it.state == State::AwaitingApproval);
            tickets.extend(planned.map(|it| it.id().clone()));
        }
        if tickets.is_empty() {
            return Err(Refusal::NothingToApprove);
        }
        Ok(vec![Event::Approved { tickets, by: by.to_owned() }])
    }

    pub(super) fn approve_step(&self, ticket: &TicketId, by: &str) -> Decided {
        self.check_not_ended()?;
        let (_, progress) = self.find(ticket)?;
        match self.need(progress) {
            Some(Need::Step { step }) => {
                Ok(vec![Event::StepApproved { ticket: ticket.clone(), step, by: by.to_owned() }])
            }
            _ => Err(wrong_state(progress)),
        }
    }

    pub(super) fn pause(&self, by: &str) -> Decided {
        self.check_not_ended()?;
        match self.paused {
            Some(_) => Err(Refusal::AlreadyPaused),
            None => Ok(vec![Event::Paused { cause: PauseCause::Person { by: by.to_owned() } }]),
        }
    }

    pub(super) fn resume_track(&self, by: &str) -> Decided {
        self.check_not_ended()?;
        match self.paused {
            Some(_) => Ok(vec![Event::Resumed { by: by.to_owned() }]),
            None => Err(Refusal::NotPaused),
        }
    }

    pub(super) fn cancel_track(&self, by: &str, reason: &str) -> Decided {
        self.check_not_ended()?;
        check_message("the reason", reason)?;
        Ok(vec![Event::TrackCancelled { by: by.to_owned(), reason: reason.to_owned() }])
    }

    /// Another chance for a ticket, whatever it does now. Its unfinished parts are given up.
    pub(super) fn retry(&self, command: &Command) -> Decided {
        let Command::Retry { ticket, by, model, persona, note } = command else { return Ok(Vec::new()) };
        self.check_not_cancelled()?;
        check_message("the note", note)?;
        let (place, progress) = self.find(ticket)?;
        let may_retry = match progress.state {
            State::Blocked => progress.need.is_some() || !progress.awaits.is_empty(),
            State::Draft
            | State::AwaitingApproval
            | State::Ready
            | State::Setup
            | State::Integrating
            | State::Merged
            | State::NoChange => false,
            State::Working
            | State::NeedsInput
            | State::Submitted
            | State::Checking
            | State::Reviewing
            | State::Rework
            | State::Queued
            | State::Failed
            | State::Cancelled => true,
        };
        if !may_retry {
            return Err(wrong_state(progress));
        }
        let mut events = vec![Event::Retried {
            ticket: ticket.clone(),
            by: by.clone(),
            model: model.clone(),
            persona: persona.clone(),
            note: note.clone(),
        }];
        events.extend(self.give_up_parts(place, by));
        Ok(events)
    }

    /// Gives a ticket up, with the tickets that are there for it alone.
    pub(super) fn cancel(&self, ticket: &TicketId, by: &str, reason: &str) -> Decided {
        self.check_not_cancelled()?;
        check_message("the reason", reason)?;
        let (place, progress) = self.find(ticket)?;
        if matches!(progress.state, State::Merged | State::NoChange | State::Cancelled) {
            return Err(wrong_state(progress));
        }
        let reason = reason.to_owned();
        let mut events = vec![Event::Cancelled { ticket: ticket.clone(), by: by.to_owned(), reason }];
        events.extend(self.give_up_parts(place, by));
        Ok(events)
    }

    /// The ends of the unfinished tickets that are parts of this one, or that resolve its conflict.
    fn give_up_parts(&self, place: usize, by: &str) -> Vec<Event> {
        let mut open = vec![place];
        let mut events = Vec::new();
        while let Some(above) = open.pop() {
            let above = &self.tickets[above];
            for id in &above.awaits {
                let Some(part) = self.index.get(id).copied() else { continue };
                let Progress { origin, state, .. } = &self.tickets[part];
                let is_for_it =
                    matches!(origin, Origin::Split { of } | Origin::Resolver { of, .. } if of == above.id());
                if is_for_it && !state.is_final() {
                    let (ticket, by) = (id.clone(), by.to_owned());
                    events.push(Event::Cancelled {
                        ticket,
                        by,
                        reason: format!("it was for {}", above.id()),
                    });
                    open.push(part);
                }
            }
        }
        events
    }

    pub(super) fn answer(&self, ticket: &TicketId, answer: &str, by: &str) -> Decided {
        check_message("the answer", answer)?;
        let (_, progress) = self.find(ticket)?;
        if !matches!(progress.need, Some(Need::Answer { .. } | Need::Unblock { .. })) {
            return Err(wrong_state(progress));
        }
        let attempt = progress.attempt().map_or(0, |attempt| attempt.number);
        let (ticket, answer, by) = (ticket.clone(), answer.to_owned(), by.to_owned());
        Ok(vec![Event::Answered { ticket, attempt, answer, by }])
    }

    /// Approves a result that no check or no reviewer vouches for, or a start on a red base.
    pub(super) fn approve_result(&self, ticket: &TicketId, by: &str, note: &str) -> Decided {
        check_message("the note", note)?;
        let (_, progress) = self.find(ticket)?;
        let (by, note) = (by.to_owned(), note.to_owned());
        let approved = Event::ResultApproved { ticket: ticket.clone(), by: by.clone(), note: note.clone() };
        match progress.need {
            Some(Need::Baseline { .. }) => Ok(vec![approved]),
            Some(Need::Approval { .. }) => {
                let next = if progress.claims_no_change() { Next::NoChange } else { Next::Queue };
                let mut events = vec![approved];
                events.extend(self.go_on(progress, (next, vec![Evidence::Person { by, note }])));
                Ok(events)
            }
            _ => Err(wrong_state(progress)),
        }
    }

    pub(super) fn reject_result(
        &self,
        ticket: &TicketId,
        by: &str,
        note: &str,
        findings: &[Finding],
    ) -> Decided {
        check_message("the note", note)?;
        let (_, progress) = self.find(ticket)?;
        if !matches!(progress.need, Some(Need::Approval { .. })) {
            return Err(wrong_state(progress));
        }
        let mut evidence = vec![Evidence::Person { by: by.to_owned(), note: note.to_owned() }];
        if !findings.is_empty() {
            let round = progress.rounds.last().map_or(0, |round| round.number);
            evidence.push(Evidence::ReviewFindings { round, findings: findings.to_vec() });
        }
        Ok(self.go_on(progress, progress.climb.setback(self.policy(), evidence, false)))
    }

    pub(super) fn change_cap(&self, account: &CapAccount, cap: Cap, by: &str) -> Decided {
        self.check_not_cancelled()?;
        if let CapAccount::Ticket { ticket } = account {
            self.find(ticket)?;
        }
        Ok(vec![Event::CapRaised { account: account.clone(), cap, by: by.to_owned() }])
    }

    pub(super) fn warn_cap(&self, account: &Account, unit: CapUnit) -> Vec<Event> {
        match self.was_warned(account, unit) {
            true => Vec::new(),
            false => vec![Event::CapWarned { account: account.clone(), unit }],
        }
    }

    pub(super) fn finish(&self) -> Decided {
        self.check_not_ended()?;
        if self.agenda.live > 0 { Err(Refusal::Unfinished) } else { Ok(vec![Event::Finished]) }
    }
}
