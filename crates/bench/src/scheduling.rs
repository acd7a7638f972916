//! What scheduling costs per ticket: the pure machine of `conductor`, from start to end, every step a success at once.
//! Nothing is stored and no model is called. A track of 1,000 tickets stands beside one of 10,000: the cost of a ticket
//! must not grow with the track.

use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use chrono::{DateTime, Utc};
use conductor::{
    Casting, CheckRun, Command, Conduct, Isolation, Limits, Model, Outcome, Phase, PlanApproval, Recorded,
    Review, ReviewVerdict, Ruling, Step, Submission, Task, Ticket, TicketId, Track, Verdict,
};
use uuid::Uuid;

use crate::report::{Figure, median, micros, report};

const SMALL: usize = 1_000;
const LARGE: usize = 10_000;
const ROUNDS: usize = 7;
const CONCURRENCY: usize = 16;
/// The most that a ticket of the large track may cost beside one of the small track.
const GROWTH_BAR: f64 = 2.0;

/// Microseconds per ticket, a sample per round.
#[derive(Debug, Default)]
struct Samples {
    run: Vec<f64>,
    replay: Vec<f64>,
}

pub(crate) fn measure() -> Result<()> {
    let (mut small, mut large) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        for (samples, count) in [(&mut small, SMALL), (&mut large, LARGE)] {
            if round == 1 {
                *samples = Samples::default();
            }
            samples.round(count)?;
        }
    }
    let figure = |what: &str, of: fn(&Samples) -> &Vec<f64>| {
        let what = format!("{what}, per ticket of {LARGE} (beside {SMALL})");
        Figure::new(what, "µs", median(of(&large)), median(of(&small)), Some(GROWTH_BAR))
    };
    report("conductor", &[figure("from start to end", |it| &it.run), figure("replay", |it| &it.replay)])
}

impl Samples {
    fn round(&mut self, count: usize) -> Result<()> {
        let track = track(count)?;
        let started = Instant::now();
        let mut machine = Machine::open(track.clone())?;
        machine.run_to_completion()?;
        self.run.push(micros(started) / count as f64);
        ensure!(machine.conduct.phase() == Phase::Finished, "the track does not end");
        let merged = machine.conduct.tickets().iter().filter(|ticket| ticket.state.is_met()).count();
        ensure!(merged == count, "{merged} of {count} tickets are merged");
        let started = Instant::now();
        let replayed = Conduct::replay(track, &machine.log);
        self.replay.push(micros(started) / count as f64);
        ensure!(replayed.phase() == Phase::Finished, "the log leads elsewhere");
        Ok(())
    }
}

/// A chain as long as a tenth of the track, and a tree of diamonds: `0`, then `1` and `2`, then `3`, which the first
/// tickets of two more diamonds depend on.
fn track(count: usize) -> Result<Track> {
    let mut track = Track::new("scheduling");
    track.concurrency = CONCURRENCY;
    let chain = count / 10;
    let id = |at: usize| TicketId::parse(&format!("t{at}"));
    for at in 0..count {
        let place = at.wrapping_sub(chain);
        let below = match (place % 4, place / 4) {
            _ if at == 0 || place == 0 => vec![],
            _ if at < chain => vec![at - 1],
            (0, group) => vec![chain + (group - 1) / 2 * 4 + 3],
            (3, _) => vec![at - 1, at - 2],
            (within, _) => vec![at - within],
        };
        let mut ticket = Ticket::new(id(at)?, format!("Ticket {at}"));
        ticket.depends_on = below.into_iter().map(id).collect::<Result<_, _>>()?;
        track.tickets.push(ticket);
    }
    Ok(track)
}

/// A track that is driven as a process drives it, without what a step really does.
struct Machine {
    conduct: Conduct,
    log: Vec<Recorded>,
    now: DateTime<Utc>,
    casting: Casting,
    sessions: u128,
}

impl Machine {
    fn open(track: Track) -> Result<Self> {
        let models = vec![Model::parse("rehearsal/one").context("a model")?];
        let casting = Casting { persona: None, models, fell_back: None };
        let now = DateTime::UNIX_EPOCH;
        let mut machine = Self { conduct: Conduct::new(track), log: Vec::new(), now, casting, sessions: 0 };
        let (isolation, plan) = (Isolation::Worktrees, PlanApproval::Written);
        machine.command(&Command::Open { isolation, plan, concurrency: None, by: "bench".to_owned() })?;
        Ok(machine)
    }

    fn run_to_completion(&mut self) -> Result<()> {
        loop {
            let steps = self.conduct.steps(Limits::default());
            if steps.is_empty() {
                return Ok(());
            }
            for step in &steps {
                self.take(step)?;
            }
        }
    }

    fn take(&mut self, step: &Step) -> Result<()> {
        let Some(outcome) = outcome(step)? else {
            return self.command(&Command::Finish);
        };
        self.sessions += 1;
        let session = Some(Uuid::from_u128(self.sessions));
        let casting = Some(self.casting.clone());
        self.command(&Command::Start { step: step.key.clone(), session, casting })?;
        self.command(&outcome)
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        let events =
            self.conduct.decide(command, self.now).map_err(|refusal| anyhow::anyhow!("{refusal}"))?;
        for event in events {
            let recorded = Recorded { seq: self.conduct.seq() + 1, at: self.now, event };
            self.conduct.apply(&recorded);
            self.log.push(recorded);
        }
        Ok(())
    }
}

/// The best outcome of a step. `None` for the end of the track.
fn outcome(step: &Step) -> Result<Option<Command>> {
    let Some(ticket) = step.key.ticket.clone() else { return Ok(None) };
    let number = step.key.number;
    let command = match &step.task {
        Task::Prepare => {
            let (base, branch) = (Some("base".to_owned()), Some(format!("masque/{ticket}")));
            Command::Prepared { ticket, base, branch, baseline: Some(green()) }
        }
        Task::Work(_) => {
            let head = Some(format!("{ticket}-{number}"));
            Command::Submit { ticket, attempt: number, head, submission: submission() }
        }
        Task::Verify { .. } => {
            let verdict = Verdict { ruling: Ruling::Accepted, objections: Vec::new() };
            Command::Verified { ticket, attempt: number, verdict, run: Some(green()) }
        }
        Task::Review(_) => {
            let (verdict, summary) = (ReviewVerdict::Pass, "It does what it says.".to_owned());
            let review = Review { verdict, summary, findings: Vec::new() };
            Command::Reviewed { ticket, round: number, review }
        }
        Task::Integrate { .. } => {
            let commit = Some(format!("{ticket}-merged"));
            Command::Integrated { ticket, commit }
        }
        Task::Split { .. } | Task::Finish => bail!("{} is not part of a run of successes", step.key),
    };
    Ok(Some(command))
}

fn green() -> CheckRun {
    let (command, output) = ("make check".to_owned(), "42 passed\n".to_owned());
    CheckRun { command, exit_code: Some(0), timed_out: false, output, seconds: 3 }
}

fn submission() -> Submission {
    Submission {
        outcome: Outcome::Done,
        summary: "The ticket is done as written.".to_owned(),
        criteria: Vec::new(),
        commands: vec!["make check".to_owned()],
        decisions: Vec::new(),
        test_changes: Vec::new(),
        out_of_scope: Vec::new(),
        open_questions: Vec::new(),
    }
}
