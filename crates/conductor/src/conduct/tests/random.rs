//! Tracks of any shape, worked by processes, workers, reviewers and people that do anything.
//!
//! A random run is a script of [`Play`]: each action becomes the clause that its place in the run allows. A
//! run that fails prints its script, which [`Play::of`] plays again.

use std::collections::{BTreeSet, HashMap, HashSet};

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseResult};

use super::*;
use crate::{Limits, Need, Step, StepKind};

/// Clauses after which a run counts as endless.
const MOST_CLAUSES: usize = 4_000;

/// A choice among so many, taken modulo their number.
type Choice = u16;

#[derive(Debug, Clone, Copy)]
struct Action {
    kind: Choice,
    ticket: Choice,
    how: Choice,
}

fn action() -> impl Strategy<Value = Action> {
    (any::<Choice>(), any::<Choice>(), any::<Choice>()).prop_map(|(kind, ticket, how)| Action {
        kind,
        ticket,
        how,
    })
}

/// The first clause: tickets that depend on earlier ones, in the order of the file or against it, and the
/// rules of the track.
fn track() -> impl Strategy<Value = String> {
    let below = prop::collection::vec(prop::collection::vec(any::<Choice>(), 0..3), 1..8);
    let rules = prop::collection::btree_set(
        prop::sample::select(vec![
            "unreviewed",
            "stepwise",
            "in-place",
            "drafted",
            "unasked",
            "unsplit",
            "models 1",
            "models 2",
            "rounds 1",
            "failures 0",
            "failures 1",
            "changes 1",
            "retries 1",
            "concurrency 1",
            "concurrency 2",
            "concurrency 9",
        ]),
        0..4,
    );
    (below, rules, any::<bool>()).prop_map(|(below, rules, is_reversed)| {
        let mut lines: Vec<String> = Vec::new();
        for (at, below) in below.into_iter().enumerate() {
            let below: BTreeSet<usize> =
                below.into_iter().filter_map(|it| usize::from(it).checked_rem(at)).collect();
            let names: Vec<String> = below.into_iter().map(|it| format!(" t{it}")).collect();
            lines.push(if names.is_empty() {
                format!("t{at}")
            } else {
                format!("t{at} after{}", names.concat())
            });
        }
        if is_reversed {
            lines.reverse();
        }
        lines.extend(rules.into_iter().map(str::to_owned));
        lines.join("; ")
    })
}

/// How a step of a ticket may end, well and badly. `{new}` is a number that is free.
fn outcomes(progress: &Progress) -> Vec<&'static str> {
    let mut all = match (progress.state, progress.is_splitting()) {
        (State::Ready | State::Setup, _) => {
            vec!["prepares", "prepares", "prepares-red", "faults setup", "faults base", "works"]
        }
        (State::Working | State::Rework, true) => vec![
            "splits p{new}",
            "splits p{new}+q{new} after p{new}",
            "asks",
            "faults nothing",
            "faults stuck",
        ],
        (State::Working | State::Rework, false) => vec![
            "works",
            "works",
            "works",
            "part-works",
            "gives-up",
            "needs-nothing",
            "finds more",
            "asks",
            "stops",
            "faults model",
            "faults stuck",
            "faults nothing",
        ],
        (State::Submitted | State::Checking, _) => {
            vec!["checks", "checks", "checks", "checks-flagged", "unverified", "red", "lies"]
        }
        (State::Reviewing, _) => {
            vec!["reviewed", "reviewed", "reworked", "refused", "faults model", "faults nothing"]
        }
        (State::Queued | State::Integrating, _) => {
            vec!["merges", "merges", "merges", "conflicts", "conflicts t0", "clashes t0"]
        }
        _ => vec!["landed", "works", "merges"],
    };
    all.extend(["faults transport", "faults machine", "faults cap", "faults price"]);
    all
}

/// What else may happen on the way of a ticket, or is refused.
const ON_THE_WAY: [&str; 4] = ["starts", "keeps", "late-works 1", "splits t0"];

/// What people may do about a ticket.
const PEOPLE: [&str; 9] = [
    "answer {}",
    "accept {}",
    "reject {}",
    "retry {}",
    "retry {} other",
    "cancel {}",
    "approve {}",
    "grant {}",
    "raise {}",
];

/// What may happen to the track.
const TRACK: [&str; 8] = [
    "pause",
    "resume",
    "wait 300",
    "raise track",
    "warn",
    "finish",
    "approve",
    "add n{new}; m{new} after n{new} {}",
];

/// A run with what was seen of it.
struct Run {
    play: Play,
    script: String,
    clauses: usize,
    /// Events that were looked at.
    seen: usize,
    ids: Vec<TicketId>,
    merged: HashSet<TicketId>,
    /// The open attempt of each ticket.
    workers: HashMap<TicketId, u32>,
}

impl Run {
    fn new(track: &str) -> Self {
        let play = Play::of(track);
        let ids = play.conduct.tickets().iter().map(|it| it.id().clone()).collect();
        Self {
            play,
            script: track.to_owned(),
            clauses: 0,
            seen: 0,
            ids,
            merged: HashSet::new(),
            workers: HashMap::new(),
        }
    }

    /// Plays one clause, which may be refused.
    fn clause(&mut self, clause: &str) -> TestCaseResult {
        self.script.push_str(" | ");
        self.script.push_str(clause);
        self.clauses += 1;
        prop_assert!(self.clauses < MOST_CLAUSES, "it does not end: {}", self.script);
        // A refusal is an answer like any other.
        let _ = self.play.clause(clause);
        self.look()
    }

    /// Looks at the state, and at what happened.
    fn look(&mut self) -> TestCaseResult {
        self.play.assert_indexes();
        self.play.assert_order();
        let ids: Vec<TicketId> = self.play.conduct.tickets().iter().map(|it| it.id().clone()).collect();
        prop_assert!(ids.starts_with(&self.ids), "a ticket is lost: {}", self.script);
        let distinct: HashSet<String> = ids.iter().map(|id| id.as_str().to_ascii_lowercase()).collect();
        prop_assert_eq!(distinct.len(), ids.len(), "a ticket is there twice: {}", self.script);
        self.ids = ids;
        for at in self.seen..self.play.log.len() {
            let event = self.play.log[at].event.clone();
            self.look_at(&event)?;
        }
        self.seen = self.play.log.len();
        Ok(())
    }

    fn look_at(&mut self, event: &Event) -> TestCaseResult {
        let Some(ticket) = event.ticket().cloned() else { return Ok(()) };
        match event {
            Event::WorkStarted { attempt, .. } => {
                let before = self.workers.insert(ticket.clone(), *attempt);
                prop_assert_eq!(before, None, "{} has two workers: {}", ticket, self.script);
            }
            Event::Submitted { .. }
            | Event::Retried { .. }
            | Event::Cancelled { .. }
            | Event::Decided { .. } => {
                self.workers.remove(&ticket);
            }
            Event::Merged { .. } => {
                prop_assert!(
                    self.merged.insert(ticket.clone()),
                    "{} is merged twice: {}",
                    ticket,
                    self.script
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Asserts that nothing that can start depends on something that is not merged, that each step can be
    /// taken, and that taking it twice does no harm.
    fn take_each_step_twice(&self) -> TestCaseResult {
        let conduct = &self.play.conduct;
        for Step { key, not_before, .. } in conduct.steps(Limits::default()) {
            prop_assert_eq!(
                conduct.paused().is_some() && key.kind != StepKind::Finish,
                false,
                "{}",
                self.script
            );
            if let Some(progress) = key.ticket.as_ref().and_then(|id| conduct.ticket(id)) {
                let is_met = |id: &TicketId| conduct.state(id).is_some_and(State::is_met);
                let below = || progress.ticket.depends_on.iter().chain(&progress.awaits);
                prop_assert!(below().all(is_met), "{} is offered too early: {}", key, self.script);
            }
            if not_before.is_some_and(|time| time > self.play.now) {
                continue;
            }
            let mut taken = self.play.copy();
            let once = taken.start(&key);
            prop_assert_eq!(&once, &Ok(()), "{} is offered and refused: {}", key, self.script);
            let (state, events) = (taken.fingerprint(), taken.log.len());
            prop_assert_eq!(taken.start(&key), Ok(()), "{} cannot be taken over: {}", key, self.script);
            prop_assert_eq!(taken.log.len(), events, "{} starts twice: {}", key, self.script);
            prop_assert_eq!(taken.fingerprint(), state);
        }
        Ok(())
    }

    /// Asserts that a track that offers nothing is at its end, or waits for a person with a named need.
    fn assert_explained(&self) -> TestCaseResult {
        let conduct = &self.play.conduct;
        match conduct.phase() {
            Phase::New | Phase::Running => prop_assert!(false, "{:?}: {}", conduct.phase(), self.script),
            Phase::Paused | Phase::Finished | Phase::Cancelled => return Ok(()),
            Phase::Waiting => {}
        }
        prop_assert!(!conduct.needs().is_empty(), "it waits for nobody: {}", self.script);
        let is_full = conduct.free_places() == 0 || !conduct.takes_new();
        for it in conduct.tickets() {
            let waits = match it.state {
                _ if conduct.need(it).is_some() || it.state.is_final() => true,
                // A dependency is not met: it is explained itself.
                State::Blocked => it.unmet > 0,
                State::Ready => is_full,
                _ => it.parked && is_full,
            };
            prop_assert!(waits, "{} is {} for no reason: {}", it.id(), it.state, self.script);
        }
        Ok(())
    }

    /// Works without people until nothing is offered any more.
    fn work(&mut self, choices: &[Choice]) -> TestCaseResult {
        let mut choices = choices.iter().copied().cycle();
        let mut next = || choices.next().unwrap_or_default();
        loop {
            let steps = self.play.conduct.steps(Limits::default());
            let due: Vec<&Step> = steps
                .iter()
                .filter(|step| step.not_before.is_none_or(|time| time <= self.play.now))
                .collect();
            let Some(step) = choose(&due, next()) else {
                if steps.is_empty() {
                    return self.assert_explained();
                }
                self.clause("wait 300")?;
                continue;
            };
            let clause = match step.key.ticket.as_ref().and_then(|id| self.play.conduct.ticket(id)) {
                None => "finish".to_owned(),
                Some(progress) => {
                    format!("{} {}", progress.id(), choose(&outcomes(progress), next()).expect("one"))
                }
            };
            let clause = self.numbered(&clause);
            self.clause(&clause)?;
        }
    }

    fn numbered(&self, clause: &str) -> String {
        clause.replace("{new}", &self.clauses.to_string())
    }

    /// One action of anybody.
    fn act(&mut self, Action { kind, ticket, how }: Action) -> TestCaseResult {
        let Some(progress) = choose(self.play.conduct.tickets(), ticket) else { return Ok(()) };
        let clause = match kind % 10 {
            0..=5 => format!("{} {}", progress.id(), choose(&outcomes(progress), how).expect("one")),
            6 => format!("{} {}", progress.id(), ON_THE_WAY[usize::from(how) % ON_THE_WAY.len()]),
            7 => PEOPLE[usize::from(how) % PEOPLE.len()].replace("{}", progress.id().as_str()),
            8 => mend(&self.play.conduct, progress).unwrap_or_else(|| "wait 5".to_owned()),
            _ => TRACK[usize::from(how) % TRACK.len()].replace("{}", progress.id().as_str()),
        };
        let clause = self.numbered(&clause);
        self.clause(&clause)?;
        self.take_each_step_twice()
    }

    /// People and workers do all that is needed, until every ticket is merged.
    fn mend_everything(&mut self) -> TestCaseResult {
        loop {
            if self.play.conduct.paused().is_some() {
                self.clause("resume")?;
                continue;
            }
            let steps = self.play.conduct.steps(Limits::default());
            let is_finish = steps.first().is_some_and(|step| step.key.kind == StepKind::Finish);
            if let Some(step) = steps.first().filter(|_| !is_finish) {
                let clause = match step.not_before {
                    Some(time) if time > self.play.now => "wait 300".to_owned(),
                    _ => good(step),
                };
                self.clause(&clause)?;
                continue;
            }
            let conduct = &self.play.conduct;
            match conduct.tickets().iter().find_map(|it| mend(conduct, it)) {
                Some(clause) => self.clause(&clause)?,
                None if is_finish => self.clause("finish")?,
                None => break,
            }
        }
        let conduct = &self.play.conduct;
        prop_assert_eq!(conduct.phase(), Phase::Finished, "{}", self.script);
        let left = conduct.tickets().iter().find(|it| !it.state.is_met());
        prop_assert!(left.is_none(), "{:?} is left: {}", left.map(Progress::id), self.script);
        Ok(())
    }

    /// Asserts that the log, written and read, leads to the same state at every place.
    fn replay(&self) -> TestCaseResult {
        let mut live = Conduct::new(self.play.conduct.track().clone());
        let mut replayed = live.clone();
        for recorded in &self.play.log {
            live.apply(recorded);
            let stored = serde_json::to_string(recorded).expect("JSON");
            let read: Recorded = serde_json::from_str(&stored).expect("an event");
            prop_assert_eq!(&read, recorded, "{}", stored);
            replayed.apply(&read);
            // What was folded before changes nothing.
            replayed.apply(&read);
            prop_assert_eq!(play::fingerprint(&replayed), play::fingerprint(&live), "{}", self.script);
        }
        prop_assert_eq!(play::fingerprint(&live), self.play.fingerprint(), "{}", self.script);
        Ok(())
    }
}

fn choose<T>(all: &[T], choice: Choice) -> Option<&T> {
    all.get(usize::from(choice) % all.len().max(1))
}

/// The outcome that brings a step's ticket on.
pub(super) fn good(step: &Step) -> String {
    let happening = match step.key.kind {
        StepKind::Prepare => "prepares",
        StepKind::Work => "works",
        StepKind::Verify => "checks",
        StepKind::Review => "reviewed",
        StepKind::Split => "faults stuck",
        StepKind::Integrate => "merges",
        StepKind::Finish => return "finish".to_owned(),
    };
    format!("{} {happening}", step.key.ticket.as_ref().map_or("", TicketId::as_str))
}

/// What a person does about a ticket that waits for one.
fn mend(conduct: &Conduct, progress: &Progress) -> Option<String> {
    let command = match conduct.need(progress) {
        Some(Need::Answer { .. } | Need::Unblock { .. }) => "answer",
        Some(Need::Approval { .. } | Need::Baseline { .. }) => "accept",
        Some(Need::Plan) => "approve",
        Some(Need::Step { .. }) => "grant",
        Some(Need::Cap { .. }) => return Some("raise track".to_owned()),
        Some(Need::Price { .. } | Need::Setup { .. } | Need::Decision) => "retry",
        None if matches!(progress.state, State::Failed | State::Cancelled) => "retry",
        None => return None,
    };
    Some(format!("{command} {}", progress.id()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x77),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_run_keeps_its_promises(
        track in track(),
        actions in prop::collection::vec(action(), 0..60),
        choices in prop::collection::vec(any::<Choice>(), 1..200),
    ) {
        let mut run = Run::new(&track);
        run.clause("open")?;
        for action in actions {
            run.act(action)?;
        }
        run.work(&choices)?;
        run.mend_everything()?;
        run.replay()?;
    }

    #[test]
    fn a_cancelled_track_stays_at_its_end(
        track in track(),
        before in prop::collection::vec(action(), 0..30),
        after in prop::collection::vec(action(), 1..30),
    ) {
        let mut run = Run::new(&track);
        run.clause("open")?;
        for action in before {
            run.act(action)?;
        }
        let has_ended = run.play.conduct.phase() == Phase::Finished;
        run.clause("abandon")?;
        prop_assume!(!has_ended);
        for action in after {
            run.act(action)?;
            let conduct = &run.play.conduct;
            prop_assert_eq!(conduct.phase(), Phase::Cancelled);
            prop_assert!(conduct.tickets().iter().all(|it| it.state.is_final()), "{}", run.script);
            prop_assert_eq!(conduct.steps(Limits::default()), Vec::new());
        }
        run.replay()?;
    }
}
