//! The ladder that a stuck ticket climbs: again, the next model, the tech lead, a person.
//!
//! Each answer comes with its evidence. A tier never does the work of the tier below.

use chrono::{DateTime, TimeDelta, Utc};

use crate::limits::SPLIT_DEPTH;
use crate::{ApprovalReason, Escalation, Evidence, Fault, Model, Need, Next, Objection, Verdict};

/// Seconds that a retry waits at most.
const LONGEST_BACKOFF: u64 = 300;
/// Failures of the machine itself in a row before a person is asked.
const MACHINE_RETRIES: u32 = 3;
/// Times that a worker is reminded to hand in, for each of its models.
const REMINDERS: u32 = 1;

/// The place of a ticket on the ladder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Climb {
    /// The models of the last casting.
    pub models: Vec<Model>,
    /// The index of the model in use.
    pub rung: u32,
    /// Changes of the model since a person looked.
    pub escalations: u32,
    /// Red checks, rejections and partial results of this model.
    pub setbacks: u32,
    /// Faults on the way in a row.
    pub faults: u32,
    /// Reminders of this model to hand in.
    pub reminders: u32,
    /// Rounds of review of this model's result.
    pub rounds: u32,
    /// Splits above the ticket, and of it.
    pub splits: u32,
    /// False for a ticket that resolves a conflict.
    pub may_split: bool,
}

/// A way on, and why.
pub(crate) type Way = (Next, Vec<Evidence>);

impl Climb {
    /// Starts again at the first model, as after a person's decision. Splits stay counted.
    pub(crate) fn restart(&mut self) {
        *self = Self {
            models: std::mem::take(&mut self.models),
            splits: self.splits,
            may_split: self.may_split,
            ..Self::default()
        };
    }

    /// Takes the next model.
    pub(crate) fn take_rung(&mut self, rung: u32) {
        if rung != self.rung {
            self.escalations += 1;
            self.rung = rung;
            (self.setbacks, self.faults, self.reminders, self.rounds) = (0, 0, 0, 0);
        }
    }

    fn has_next_model(&self, policy: &Escalation) -> bool {
        self.escalations < policy.models && (self.rung as usize) + 1 < self.models.len()
    }

    fn may_split(&self, policy: &Escalation) -> bool {
        policy.split && self.may_split && self.splits < SPLIT_DEPTH
    }

    /// The next model with a fresh context; after the last one, the tech lead; after that, the end.
    pub(crate) fn next_model(
        &self,
        policy: &Escalation,
        mut evidence: Vec<Evidence>,
        onto_target: bool,
    ) -> Way {
        if self.has_next_model(policy) {
            return (
                Next::Work { rung: self.rung + 1, fresh: true, onto_target, not_before: None },
                evidence,
            );
        }
        evidence.push(Evidence::ModelsUsed { models: self.models.clone() });
        self.lead(policy, evidence)
    }

    fn lead(&self, policy: &Escalation, mut evidence: Vec<Evidence>) -> Way {
        if self.may_split(policy) {
            return (Next::Split, evidence);
        }
        if self.splits > 0 {
            evidence.push(Evidence::SplitUsed { depth: self.splits });
        }
        (Next::Fail, evidence)
    }

    /// The same model goes on in its session.
    fn same_model(&self, onto_target: bool) -> Next {
        Next::Work { rung: self.rung, fresh: false, onto_target, not_before: None }
    }

    /// After something that the same model may mend once.
    pub(crate) fn setback(&self, policy: &Escalation, evidence: Vec<Evidence>, onto_target: bool) -> Way {
        if self.setbacks + 1 < policy.red_checks {
            (self.same_model(onto_target), evidence)
        } else {
            self.next_model(policy, evidence, onto_target)
        }
    }

    /// After a rejected submission.
    pub(crate) fn after_verdict(&self, policy: &Escalation, attempt: u32, verdict: &Verdict) -> Way {
        let reds = verdict.objections.iter().find_map(|objection| match objection {
            Objection::RedCheck { run } => Some(run.clone()),
            _ => None,
        });
        let others: Vec<Objection> = verdict
            .objections
            .iter()
            .filter(|it| !matches!(it, Objection::RedCheck { .. }))
            .cloned()
            .collect();
        let is_false = verdict.objections.iter().any(Objection::is_false_claim);
        let mut evidence: Vec<Evidence> =
            reds.map(|run| Evidence::RedCheck { attempt, run }).into_iter().collect();
        if !others.is_empty() || evidence.is_empty() {
            evidence.push(Evidence::Rejected { attempt, objections: others });
        }
        if is_false {
            self.next_model(policy, evidence, false)
        } else {
            self.setback(policy, evidence, false)
        }
    }

    /// After a review that sends the result back.
    pub(crate) fn after_rework(
        &self,
        policy: &Escalation,
        most_rounds: u32,
        mut evidence: Vec<Evidence>,
    ) -> Way {
        if self.rounds < most_rounds {
            return (self.same_model(false), evidence);
        }
        evidence.push(Evidence::ReviewRoundsUsed { rounds: self.rounds });
        if self.may_split(policy) {
            (Next::Split, evidence)
        } else {
            self.next_model(policy, evidence, false)
        }
    }

    /// After a failed attempt.
    pub(crate) fn after_fault(
        &self,
        policy: &Escalation,
        attempt: u32,
        fault: &Fault,
        at: DateTime<Utc>,
    ) -> Way {
        let mut evidence = vec![Evidence::Fault { attempt, fault: fault.clone() }];
        match fault {
            Fault::Transport { .. } if self.faults < policy.transport_retries => {
                let not_before = Some(backoff(policy, self.faults, at));
                (Next::Work { rung: self.rung, fresh: false, onto_target: false, not_before }, evidence)
            }
            Fault::Transport { .. } => {
                evidence.push(Evidence::Repeated { times: self.faults + 1 });
                // A provider that is down says nothing about the ticket: it is never split for that.
                if self.has_next_model(policy) {
                    self.next_model(policy, evidence, false)
                } else {
                    (Next::AskPerson { need: Need::Decision }, evidence)
                }
            }
            Fault::NoSubmission if self.reminders < REMINDERS => (self.same_model(false), evidence),
            Fault::NoSubmission | Fault::Model { .. } | Fault::Stuck { .. } => {
                self.next_model(policy, evidence, false)
            }
            Fault::Machine { .. } if self.faults < MACHINE_RETRIES => {
                let not_before = Some(backoff(policy, self.faults, at));
                (Next::Work { rung: self.rung, fresh: false, onto_target: false, not_before }, evidence)
            }
            fault => (Next::AskPerson { need: need_of(fault) }, evidence),
        }
    }

    /// After a fault of a step that is no attempt: the step again, then a person.
    pub(crate) fn after_step_fault(
        &self,
        policy: &Escalation,
        number: u32,
        fault: &Fault,
        at: DateTime<Utc>,
    ) -> Way {
        let mut evidence = vec![Evidence::Fault { attempt: number, fault: fault.clone() }];
        let most = match fault {
            Fault::Transport { .. } => policy.transport_retries,
            Fault::Machine { .. } => MACHINE_RETRIES,
            fault => return (Next::AskPerson { need: need_of(fault) }, evidence),
        };
        if self.faults < most {
            return (Next::Again { not_before: Some(backoff(policy, self.faults, at)) }, evidence);
        }
        evidence.push(Evidence::Repeated { times: self.faults + 1 });
        (Next::AskPerson { need: need_of(fault) }, evidence)
    }

    /// After a fault of the tech lead that breaks the ticket down. Nobody is above it but a person.
    pub(crate) fn after_split_fault(
        &self,
        policy: &Escalation,
        number: u32,
        fault: &Fault,
        at: DateTime<Utc>,
    ) -> Way {
        match fault {
            Fault::NoSubmission if number <= REMINDERS => {
                let evidence = vec![Evidence::Fault { attempt: number, fault: fault.clone() }];
                (Next::Again { not_before: None }, evidence)
            }
            Fault::NoSubmission | Fault::Model { .. } | Fault::Stuck { .. } => {
                (Next::Fail, vec![Evidence::SplitFailed { fault: fault.clone() }])
            }
            fault => self.after_step_fault(policy, number, fault, at),
        }
    }

    /// After a fault of a review, which another model may do.
    pub(crate) fn after_review_fault(
        &self,
        policy: &Escalation,
        reviewer: &Reviewer,
        fault: &Fault,
        at: DateTime<Utc>,
    ) -> Way {
        match fault {
            Fault::Cap { .. } | Fault::Unpriced { .. } | Fault::Setup { .. } | Fault::RedBaseline { .. } => {
                return self.after_step_fault(policy, reviewer.round, fault, at);
            }
            Fault::Transport { .. } | Fault::Machine { .. } => {
                let way = self.after_step_fault(policy, reviewer.round, fault, at);
                if matches!(way.0, Next::Again { .. }) {
                    return way;
                }
            }
            Fault::Model { .. } | Fault::Stuck { .. } | Fault::NoSubmission => {}
        }
        let evidence = vec![Evidence::Fault { attempt: reviewer.round, fault: fault.clone() }];
        if reviewer.rung < policy.models && (reviewer.rung as usize) + 1 < reviewer.models {
            return (Next::ReviewBy { rung: reviewer.rung + 1 }, evidence);
        }
        (Next::AskPerson { need: Need::Approval { why: ApprovalReason::NoReview } }, evidence)
    }
}

/// The reviewer of a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reviewer {
    pub(crate) round: u32,
    pub(crate) rung: u32,
    pub(crate) models: usize,
}

/// What a person has to do about a fault.
fn need_of(fault: &Fault) -> Need {
    match fault {
        Fault::Setup { message, .. } | Fault::Machine { message } => Need::Setup { message: message.clone() },
        Fault::RedBaseline { run } => Need::Baseline { command: run.command.clone() },
        Fault::Cap { account, unit } => Need::Cap { account: account.clone(), unit: *unit },
        Fault::Unpriced { model } => Need::Price { model: model.clone() },
        Fault::Transport { .. } | Fault::Model { .. } | Fault::Stuck { .. } | Fault::NoSubmission => {
            Need::Decision
        }
    }
}

fn backoff(policy: &Escalation, faults: u32, at: DateTime<Utc>) -> DateTime<Utc> {
    let seconds = policy.backoff.saturating_mul(1 << faults.min(16)).min(LONGEST_BACKOFF);
    at + TimeDelta::seconds(i64::try_from(seconds).unwrap_or(0))
}
