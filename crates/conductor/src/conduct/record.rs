//! The record of one ticket: steps that start, and their outcomes.

use chrono::{DateTime, Utc};

use super::progress::Work;
use super::{Attempt, Progress, Round};
use crate::{Event, Fault, Need, State, StepKind};

impl Progress {
    /// Folds the start of a step.
    pub(super) fn begin(&mut self, event: &Event, at: DateTime<Utc>) {
        let state = match event {
            Event::SetupStarted { number, .. } => {
                self.setups = *number;
                self.began_at.get_or_insert(at);
                State::Setup
            }
            Event::WorkStarted { .. } => {
                self.begin_attempt(event, at);
                State::Working
            }
            Event::WorkResumed { .. } => State::Working,
            Event::CheckStarted { .. } => State::Checking,
            Event::ReviewStarted { .. } => {
                self.begin_round(event, at);
                State::Reviewing
            }
            Event::SplitStarted { session, .. } => {
                if let Some(split) = &mut self.split {
                    split.session = Some(*session);
                    split.tries += 1;
                }
                State::Working
            }
            Event::IntegrationStarted { number, .. } => {
                self.integrations = *number;
                State::Integrating
            }
            _ => return,
        };
        self.state = state;
        self.begun = true;
        self.parked = false;
        self.granted = None;
    }

    fn begin_attempt(&mut self, event: &Event, at: DateTime<Utc>) {
        let Event::WorkStarted { attempt, session, casting, model, fresh, .. } = event else { return };
        self.climb.models.clone_from(&casting.models);
        self.attempts.push(Attempt {
            number: *attempt,
            session: *session,
            persona: casting.persona.clone(),
            model: model.clone(),
            rung: self.work.as_ref().map_or(0, |work| work.rung),
            fresh: *fresh,
            began_at: at,
            ended_at: None,
            head: None,
            submission: None,
            verdict: None,
            run: None,
            checked_at: None,
            fault: None,
            questions: Vec::new(),
            checkpoint: None,
        });
    }

    fn begin_round(&mut self, event: &Event, at: DateTime<Utc>) {
        let Event::ReviewStarted { round, session, casting, model, .. } = event else { return };
        if let Some(review) = &mut self.review {
            review.models = casting.models.len();
            review.session = Some(*session);
        }
        self.rounds.push(Round {
            number: *round,
            session: *session,
            persona: casting.persona.clone(),
            model: model.clone(),
            began_at: at,
            ended_at: None,
            attempt: self.attempt().map_or(0, |attempt| attempt.number),
            head: self.head().map(str::to_owned),
            review: None,
            fault: None,
        });
    }

    /// Folds an outcome. The decision that follows changes the state.
    pub(super) fn record(&mut self, event: &Event, at: DateTime<Utc>) {
        match event {
            Event::Prepared { base, branch, baseline, .. } => {
                self.base.clone_from(base);
                self.branch.clone_from(branch);
                self.baseline.clone_from(baseline);
                self.prepared = true;
                self.climb.faults = 0;
                let work = Work { rung: 0, fresh: true, onto_target: false };
                self.work.get_or_insert(work);
                self.enter(State::Working);
            }
            Event::PersonaFellBack { role, persona, reason, .. } => {
                self.fell_back.push((*role, persona.clone(), reason.clone()));
            }
            Event::StepApproved { step, .. } => self.granted = Some(*step),
            Event::ResultApproved { .. } if matches!(self.need, Some(Need::Baseline { .. })) => {
                self.accepts_red_base = true;
                (self.need, self.held) = (None, None);
                self.rest();
            }
            Event::Submitted { attempt, head, submission, .. } => {
                if let Some(it) = self.attempts.last_mut().filter(|it| it.number == *attempt) {
                    it.head.clone_from(head);
                    it.submission = Some(submission.clone());
                    it.ended_at = Some(at);
                }
                self.climb.faults = 0;
                self.enter(State::Submitted);
            }
            Event::Checked { attempt, verdict, run, .. } => {
                if let Some(it) = self.attempts.last_mut().filter(|it| it.number == *attempt) {
                    it.verdict = Some(verdict.clone());
                    it.run.clone_from(run);
                    it.checked_at = Some(at);
                }
            }
            Event::Reviewed { round, review, .. } => {
                if let Some(it) = self.rounds.last_mut().filter(|it| it.number == *round) {
                    it.review = Some(review.clone());
                    it.ended_at = Some(at);
                }
            }
            Event::Faulted { step, number, fault, .. } => self.record_fault(*step, *number, fault, at),
            Event::Asked { question, .. } => {
                self.take_question(question);
                self.state = State::NeedsInput;
                self.need = Some(Need::Answer { question: question.clone() });
                self.held = Some(State::Working);
            }
            Event::ReportedBlocked { reason, .. } => self.take_question(reason),
            Event::Answered { answer, .. } => self.take_answer(answer),
            Event::Checkpointed { reference, commit, .. } => {
                if let Some(it) = self.attempts.last_mut() {
                    it.checkpoint = Some((reference.clone(), commit.clone()));
                }
            }
            _ => {}
        }
    }

    fn record_fault(&mut self, step: StepKind, number: u32, fault: &Fault, at: DateTime<Utc>) {
        if step == StepKind::Work
            && let Some(it) = self.attempts.last_mut().filter(|it| it.number == number)
        {
            it.fault = Some(fault.clone());
            it.ended_at = Some(at);
        }
        if step == StepKind::Review
            && let Some(it) = self.rounds.last_mut().filter(|it| it.number == number)
        {
            it.fault = Some(fault.clone());
            it.ended_at = Some(at);
        }
    }

    fn take_question(&mut self, question: &str) {
        match (&mut self.split, self.attempts.last_mut()) {
            // The tech lead's question is part of no attempt.
            (Some(split), _) => split.answer = None,
            (None, Some(attempt)) => attempt.questions.push((question.to_owned(), None)),
            (None, None) => {}
        }
    }

    /// The step goes on with the answer, as soon as there is a place for it.
    fn take_answer(&mut self, answer: &str) {
        if let Some(split) = &mut self.split {
            split.answer = Some(answer.to_owned());
        } else if let Some(it) = self.attempts.last_mut() {
            it.ended_at = None;
            match it.questions.last_mut() {
                Some((_, open @ None)) => *open = Some(answer.to_owned()),
                _ => it.questions.push((String::new(), Some(answer.to_owned()))),
            }
        }
        self.need = None;
        self.held = None;
        self.not_before = None;
        self.state = State::Working;
        self.begun = true;
        self.parked = true;
    }
}
