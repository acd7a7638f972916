//! The steps that can be taken now, and the needs of people that hold others up.

use super::{Conduct, Progress};
use crate::{Isolation, Limits, Need, ReviewTask, State, Step, StepKey, StepKind, Task, WorkTask};

impl Conduct {
    /// The steps that can be taken now, the most urgent first: merging, then tickets that are worked, then
    /// those that wait for a place to go on, then ready ones, the longest chain of dependents first.
    ///
    /// Steps that were started are offered again, so that another process can take them over. A paused
    /// track offers nothing: what runs may end, and its outcome counts. A step may have to wait for its
    /// time (`not_before`).
    pub fn steps(&self, limits: Limits) -> Vec<Step> {
        if self.opened.is_none() || self.ending.is_some() || self.newer {
            return Vec::new();
        }
        if self.agenda.live == 0 {
            return vec![self.finish_step()];
        }
        if self.paused.is_some() {
            return Vec::new();
        }
        let merging = self.merging();
        let busy = || self.agenda.busy.iter().map(|key| key.1).filter(|at| self.is_granted(*at));
        let worked = busy().filter(|at| !self.tickets[*at].parked);
        let free = self.free_places();
        let parked = busy().filter(|at| self.tickets[*at].parked);
        let ready = self.agenda.ready.iter().map(|key| key.1).take(if self.takes_new() { free } else { 0 });
        let begins = parked.chain(ready).take(free);
        merging
            .into_iter()
            .chain(worked)
            .chain(begins)
            .take(limits.steps)
            .filter_map(|at| self.step(&self.tickets[at]))
            .collect()
    }

    pub(super) fn has_steps(&self) -> bool {
        !self.steps(Limits { steps: 1 }).is_empty()
    }

    /// What a ticket waits for, if it waits for a person: the approval of its next step included.
    pub fn need(&self, progress: &Progress) -> Option<Need> {
        let step = || match progress.stage() {
            Some((step, _)) if self.opened.is_some() && !self.has_grant(progress, step) => {
                Some(Need::Step { step })
            }
            _ => None,
        };
        progress.need.clone().or_else(step)
    }

    /// Everything that waits for a person, the most urgent first.
    pub fn needs(&self) -> Vec<(&Progress, Need)> {
        if self.ending == Some(super::Ending::Cancelled) {
            return Vec::new();
        }
        let mut needs: Vec<(&Progress, Need)> =
            self.tickets.iter().filter_map(|it| self.need(it).map(|need| (it, need))).collect();
        // The sort is stable: needs of the same kind stay in the order of the tickets.
        needs.sort_by_key(|(progress, need)| urgency(progress, need));
        needs
    }

    /// The ticket that is being merged; else the first of the queue, after those that wait for their time.
    fn merging(&self) -> Vec<usize> {
        if let Some(at) = self.agenda.integrating {
            return vec![at];
        }
        let mut found = Vec::new();
        for (_, at) in &self.agenda.queue {
            if self.is_granted(*at) {
                found.push(*at);
                if self.tickets[*at].not_before.is_none() {
                    break;
                }
            }
        }
        // One that can be merged at once comes before those that wait.
        found.reverse();
        found
    }

    pub(super) fn free_places(&self) -> usize {
        self.concurrency().saturating_sub(self.agenda.places)
    }

    /// True if tickets that were never worked may begin. In the only tree that there is, one that waits to
    /// go on comes first: its changes lie there.
    pub(super) fn takes_new(&self) -> bool {
        self.is_isolated_in() != Isolation::None || self.agenda.parked == 0
    }

    pub(super) fn is_granted(&self, at: usize) -> bool {
        let progress = &self.tickets[at];
        progress.stage().is_some_and(|(kind, _)| self.has_grant(progress, kind))
    }

    /// True if no person has to approve the step, or one did. A step that was started goes on.
    fn has_grant(&self, progress: &Progress, kind: StepKind) -> bool {
        !self.is_gated(kind) || progress.begun || progress.granted == Some(kind)
    }

    /// True if the track lets a person approve steps of the kind.
    pub(super) fn is_gated(&self, kind: StepKind) -> bool {
        let matters =
            matches!(kind, StepKind::Work | StepKind::Review | StepKind::Split | StepKind::Integrate);
        self.track.step_approval && matters
    }

    pub(super) fn finish_key(&self) -> StepKey {
        StepKey { ticket: None, kind: StepKind::Finish, number: self.finishes.saturating_add(1) }
    }

    fn finish_step(&self) -> Step {
        let key = self.finish_key();
        Step { key, task: Task::Finish, begun: false, not_before: None, evidence: Vec::new() }
    }

    fn step(&self, progress: &Progress) -> Option<Step> {
        let (kind, number) = progress.stage()?;
        let head = progress.head().map(str::to_owned);
        let task = match kind {
            StepKind::Prepare => Task::Prepare,
            StepKind::Work => Task::Work(work_task(progress, number)),
            StepKind::Verify => Task::Verify { attempt: number, head },
            StepKind::Review => Task::Review(review_task(progress, number)),
            StepKind::Split => {
                let split = progress.split.clone().unwrap_or_default();
                Task::Split { session: split.session, answer: split.answer.filter(|_| progress.begun) }
            }
            StepKind::Integrate => Task::Integrate { head },
            StepKind::Finish => return None,
        };
        Some(Step {
            key: StepKey { ticket: Some(progress.id().clone()), kind, number },
            task,
            begun: progress.begun,
            not_before: progress.not_before,
            evidence: progress.evidence.clone(),
        })
    }
}

fn work_task(progress: &Progress, attempt: u32) -> WorkTask {
    let answer = || progress.attempt()?.questions.last()?.1.clone();
    let work = progress.work.as_ref();
    WorkTask {
        attempt,
        rung: work.map_or(0, |work| work.rung),
        session: progress.session_to_continue(),
        answer: if progress.begun { answer() } else { None },
        onto_target: work.is_some_and(|work| work.onto_target),
    }
}

fn review_task(progress: &Progress, round: u32) -> ReviewTask {
    let seen = progress.rounds.iter().rev().find(|round| round.review.is_some());
    ReviewTask {
        round,
        rung: progress.review.as_ref().map_or(0, |review| review.rung),
        session: progress.review.as_ref().and_then(|review| review.session),
        head: progress.head().map(str::to_owned),
        since: seen.and_then(|round| round.head.clone()),
        open: progress.open_findings(),
        worker: progress.attempt().map(|attempt| attempt.model.clone()),
    }
}

/// The rank of a need. A waiting worker comes first, a draft last.
fn urgency(progress: &Progress, need: &Need) -> u8 {
    match need {
        Need::Answer { .. } | Need::Unblock { .. } => 0,
        Need::Approval { .. } => 1,
        Need::Step { .. } => 2,
        Need::Cap { .. } | Need::Price { .. } => 3,
        Need::Setup { .. } | Need::Baseline { .. } => 4,
        Need::Decision => 5,
        Need::Plan if progress.state == State::Draft => 7,
        Need::Plan => 6,
    }
}
