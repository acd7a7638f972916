//! Steps that start.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{Conduct, Progress};
use crate::{Casting, Event, FellBack, Model, Refusal, Role, State, StepKey, StepKind};

type Decided = Result<Vec<Event>, Refusal>;

impl Conduct {
    /// Starts a step, or takes over one that was started: that needs no event.
    pub(super) fn start(
        &self,
        step: &StepKey,
        session: Option<Uuid>,
        casting: Option<&Casting>,
        at: DateTime<Utc>,
    ) -> Decided {
        let not_offered = || Refusal::NotOffered { step: step.to_string() };
        let stale = || Refusal::Stale { step: step.to_string() };
        self.check_not_ended()?;
        let Some(ticket) = &step.ticket else {
            let is_due = *step == self.finish_key() && self.agenda.live == 0;
            return if is_due { Ok(Vec::new()) } else { Err(not_offered()) };
        };
        let (place, progress) = self.find(ticket)?;
        if progress.stage() != Some((step.kind, step.number)) {
            return Err(stale());
        }
        if self.paused.is_some() {
            return Err(not_offered());
        }
        if progress.begun && !progress.parked {
            return Ok(Vec::new());
        }
        if !self.may_start(place, at) {
            return Err(not_offered());
        }
        let cast = Cast { session, casting };
        self.started(progress, step, cast)
    }

    /// True if the step at hand of a ticket may start now.
    fn may_start(&self, place: usize, at: DateTime<Utc>) -> bool {
        let progress = &self.tickets[place];
        let has_room = match progress.state {
            State::Queued => self.agenda.integrating.is_none(),
            State::Ready => self.free_places() > 0 && self.takes_new(),
            _ => !progress.parked || self.free_places() > 0,
        };
        has_room && self.is_granted(place) && progress.not_before.is_none_or(|time| time <= at)
    }

    fn started(&self, progress: &Progress, step: &StepKey, cast: Cast<'_>) -> Decided {
        let (ticket, number) = (progress.id().clone(), step.number);
        match step.kind {
            StepKind::Prepare => Ok(vec![Event::SetupStarted { ticket, number }]),
            StepKind::Verify => Ok(vec![Event::CheckStarted { ticket, attempt: number }]),
            StepKind::Integrate => Ok(vec![Event::IntegrationStarted { ticket, number }]),
            StepKind::Work | StepKind::Split if progress.begun => {
                Ok(vec![Event::WorkResumed { ticket, attempt: number }])
            }
            StepKind::Work => start_work(progress, number, cast),
            StepKind::Review => self.start_review(progress, number, cast),
            StepKind::Split => {
                let known = progress.split.as_ref().and_then(|split| split.session);
                let (session, casting) = cast.complete(known)?;
                let model = model_at(&casting.models, 0)?;
                let mut events = fell_back(progress, Role::Lead, casting.fell_back.as_ref());
                events.push(Event::SplitStarted { ticket, session, casting, model });
                Ok(events)
            }
            StepKind::Finish => Ok(Vec::new()),
        }
    }

    fn start_review(&self, progress: &Progress, round: u32, cast: Cast<'_>) -> Decided {
        let plan = progress.review.as_ref();
        let (session, mut casting) = cast.complete(plan.and_then(|plan| plan.session))?;
        if self.track.review.other_model
            && let Some(worker) = progress.attempt().map(|attempt| attempt.model.clone())
        {
            // The worker's own model reviews last.
            casting.models.sort_by_key(|model| *model == worker);
        }
        let model = model_at(&casting.models, plan.map_or(0, |plan| plan.rung))?;
        let mut events = fell_back(progress, Role::Reviewer, casting.fell_back.as_ref());
        let ticket = progress.id().clone();
        events.push(Event::ReviewStarted { ticket, round, session, casting, model });
        Ok(events)
    }
}

/// The session and the casting that a caller supplies.
struct Cast<'a> {
    session: Option<Uuid>,
    casting: Option<&'a Casting>,
}

impl Cast<'_> {
    /// Both, with the session that is known already in place of a missing one.
    fn complete(self, known: Option<Uuid>) -> Result<(Uuid, Casting), Refusal> {
        let session = self.session.or(known).ok_or(Refusal::Incomplete { what: "a session" })?;
        let casting = self.casting.cloned().ok_or(Refusal::Incomplete { what: "a casting" })?;
        Ok((session, casting))
    }
}

fn start_work(progress: &Progress, attempt: u32, cast: Cast<'_>) -> Decided {
    let known = progress.session_to_continue();
    let (session, mut casting) = cast.complete(known)?;
    if let Some(chosen) = &progress.chosen_model {
        // The model that a person chose comes before all others.
        casting.models.retain(|model| model != chosen);
        casting.models.insert(0, chosen.clone());
    }
    let model = model_at(&casting.models, progress.work.as_ref().map_or(0, |work| work.rung))?;
    let mut events = fell_back(progress, Role::Worker, casting.fell_back.as_ref());
    let (ticket, fresh) = (progress.id().clone(), known != Some(session));
    events.push(Event::WorkStarted { ticket, attempt, session, casting, model, fresh });
    Ok(events)
}

/// The model at an index. A persona that prefers fewer models than before has its last one used.
fn model_at(models: &[Model], rung: u32) -> Result<Model, Refusal> {
    let model = models.get(rung as usize).or(models.last());
    model.cloned().ok_or(Refusal::Incomplete { what: "a model" })
}

/// The warning that a persona could not be loaded, once for each role of a ticket.
fn fell_back(progress: &Progress, role: Role, fell_back: Option<&FellBack>) -> Vec<Event> {
    let Some(FellBack { persona, reason }) = fell_back else { return Vec::new() };
    if progress.fell_back.iter().any(|(of, name, _)| *of == role && name == persona) {
        return Vec::new();
    }
    let (ticket, persona, reason) = (progress.id().clone(), persona.clone(), reason.clone());
    vec![Event::PersonaFellBack { ticket, role, persona, reason }]
}
