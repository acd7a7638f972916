//! A track that a script drives.

use chrono::TimeDelta;
use uuid::Uuid;

use super::*;
use crate::{
    Account, CapAccount, CapUnit, Casting, CheckRun, Command, CriterionReport, CriterionStatus, DraftTicket,
    Fault, FellBack, Finding, FindingSeverity, Limits, Model, Objection, Outcome, Refusal, Review,
    ReviewVerdict, Ruling, Signal, Step, StepKey, StepKind, Submission, Task, Verdict,
};

pub(super) struct Play {
    pub(super) conduct: Conduct,
    pub(super) log: Vec<Recorded>,
    pub(super) now: DateTime<Utc>,
    isolation: Isolation,
    plan: PlanApproval,
    /// Models of the worker's persona.
    pub(super) models: usize,
    falls_back: bool,
    sessions: u128,
}

pub(super) fn id(text: &str) -> TicketId {
    TicketId::parse(text).expect("an id")
}

pub(super) fn model(name: &str) -> Model {
    Model::parse(&format!("p/{name}")).expect("a model")
}

pub(super) fn run(exit_code: i32) -> CheckRun {
    let (command, output) = ("make".to_owned(), String::new());
    CheckRun { command, exit_code: Some(exit_code), timed_out: false, output, seconds: 1 }
}

pub(super) fn verdict(ruling: Ruling, objections: Vec<Objection>) -> Verdict {
    Verdict { ruling, objections }
}

pub(super) fn submission(outcome: Outcome) -> Submission {
    let (criterion, status) = ("it works".to_owned(), CriterionStatus::NotMet);
    Submission {
        outcome,
        summary: "tried".to_owned(),
        criteria: vec![CriterionReport { criterion, status, evidence: None }],
        commands: Vec::new(),
        decisions: Vec::new(),
        test_changes: Vec::new(),
        out_of_scope: Vec::new(),
        open_questions: Vec::new(),
    }
}

pub(super) fn review(verdict: ReviewVerdict) -> Review {
    let severity =
        if verdict == ReviewVerdict::Pass { FindingSeverity::Minor } else { FindingSeverity::Major };
    let finding = Finding { path: "a.rs".to_owned(), line: 1, scenario: "x".to_owned(), severity };
    Review { verdict, summary: "seen".to_owned(), findings: vec![finding] }
}

/// A fault by its name in scripts.
pub(super) fn fault(name: &str) -> Fault {
    let message = "it broke".to_owned();
    match name {
        "transport" => Fault::Transport { message },
        "setup" => Fault::Setup { message, run: None },
        "base" => Fault::RedBaseline { run: run(1) },
        "model" => Fault::Model { message },
        "stuck" => Fault::Stuck { signal: Signal::Silent { seconds: 600 } },
        "nothing" => Fault::NoSubmission,
        "cap" => Fault::Cap { account: Account::Track, unit: CapUnit::Tokens },
        "price" => Fault::Unpriced { model: model("m1") },
        "machine" => Fault::Machine { message },
        other => panic!("{other} is no fault"),
    }
}

/// The name of a value's variant, as the log has it.
fn tag(value: impl serde::Serialize, key: &str) -> String {
    let value = serde_json::to_value(value).expect("JSON");
    value[key].as_str().expect("a tag").to_owned()
}

/// `a after b c`.
pub(super) fn written(text: &str) -> Ticket {
    let (name, after) = text.split_once(" after ").unwrap_or((text, ""));
    let mut ticket = Ticket::new(id(name.trim()), name.trim());
    ticket.depends_on = after.split_whitespace().map(id).collect();
    ticket
}

impl Play {
    /// The state after a whole script, none of whose commands may be refused.
    #[track_caller]
    pub(super) fn of(script: &str) -> Self {
        let mut clauses = script.split('|').map(str::trim);
        let mut play = Self::set_up(clauses.next().expect("a track"));
        for clause in clauses {
            play.clause(clause).unwrap_or_else(|refusal| panic!("{clause}: {refusal}\n  script: {script}"));
        }
        play.assert_sound();
        play
    }

    pub(super) fn new(track: Track, isolation: Isolation, plan: PlanApproval) -> Self {
        Self {
            conduct: Conduct::new(track),
            log: Vec::new(),
            now: DateTime::UNIX_EPOCH,
            isolation,
            plan,
            models: 3,
            falls_back: false,
            sessions: 0,
        }
    }

    fn set_up(clause: &str) -> Self {
        let mut track = Track::new("track");
        let mut play = Self::new(track.clone(), Isolation::Worktrees, PlanApproval::Written);
        for line in clause.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = words.last().and_then(|word| word.parse().ok()).unwrap_or(0);
            match words[0] {
                "concurrency" => track.concurrency = number as usize,
                "unreviewed" => track.review.enabled = false,
                "rounds" => track.review.rounds = number,
                "stepwise" => track.step_approval = true,
                "failures" => track.escalation.failures = number,
                "changes" => track.escalation.models = number,
                "retries" => track.escalation.transport_retries = number,
                "unsplit" => track.escalation.split = false,
                "in-place" => play.isolation = Isolation::None,
                "drafted" => play.plan = PlanApproval::Drafted,
                "unasked" => play.plan = PlanApproval::Skipped,
                "models" => play.models = number as usize,
                "missing-persona" => play.falls_back = true,
                _ => track.tickets.push(written(line)),
            }
        }
        play.conduct = Conduct::new(track);
        play
    }

    /// Plays one clause.
    pub(super) fn clause(&mut self, clause: &str) -> Result<(), Refusal> {
        let (word, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        let by = "me".to_owned();
        let ticket_of = |rest: &str| id(rest.split_whitespace().next().expect("a ticket"));
        let command = match word {
            "open" => {
                let (isolation, plan) = (self.isolation, self.plan);
                Command::Open { isolation, plan, concurrency: rest.parse().ok(), by }
            }
            "approve" => Command::Approve { tickets: rest.split_whitespace().map(id).collect(), by },
            "grant" => Command::ApproveStep { ticket: ticket_of(rest), by },
            "pause" => Command::Pause { by },
            "resume" => Command::Resume { by },
            "abandon" => Command::CancelTrack { by, reason: String::new() },
            "add" => Command::AddTickets { tickets: rest.split(';').map(written).collect(), by },
            "retry" => {
                let model = rest.split_whitespace().nth(1).map(model);
                Command::Retry { ticket: ticket_of(rest), by, model, persona: None, note: "again".into() }
            }
            "cancel" => Command::Cancel { ticket: ticket_of(rest), by, reason: String::new() },
            "answer" => Command::Answer { ticket: ticket_of(rest), answer: "yes".into(), by },
            "accept" => Command::ApproveResult { ticket: ticket_of(rest), by, note: String::new() },
            "reject" => {
                Command::RejectResult { ticket: ticket_of(rest), by, note: "no".into(), findings: Vec::new() }
            }
            "raise" => {
                let account = match rest {
                    "track" => CapAccount::Track,
                    "day" => CapAccount::Day,
                    ticket => CapAccount::Ticket { ticket: id(ticket) },
                };
                Command::RaiseCap { account, cap: Cap::default(), by }
            }
            "warn" => Command::WarnCap { account: Account::Track, unit: CapUnit::Tokens },
            "finish" => Command::Finish,
            "wait" => {
                self.now += TimeDelta::seconds(rest.parse().expect("seconds"));
                return Ok(());
            }
            "newer" => {
                self.record(Event::Unknown(serde_json::json!({ "type": "from the future" })));
                return Ok(());
            }
            "take" => return self.start(&key(rest)),
            ticket => {
                let ticket = id(ticket);
                return rest.split(',').try_for_each(|verb| self.happen(&ticket, verb.trim()));
            }
        };
        self.command(&command)
    }

    /// Lets something happen to a ticket. Steps before it are started, and prepared, as needed.
    fn happen(&mut self, ticket: &TicketId, verb: &str) -> Result<(), Refusal> {
        let (verb, rest) = verb.split_once(' ').unwrap_or((verb, ""));
        match verb {
            "prepares" => {
                self.begin(ticket, StepKind::Prepare)?;
                self.outcome(ticket, &prepared(ticket, 0))
            }
            "prepares-red" => {
                self.begin(ticket, StepKind::Prepare)?;
                self.outcome(ticket, &prepared(ticket, 1))
            }
            "starts" => {
                if matches!(self.conduct.state(ticket), Some(State::Ready | State::Setup)) {
                    self.happen(ticket, "prepares")?;
                }
                self.begin_at_hand(ticket)
            }
            "works" => self.submit(ticket, Outcome::Done, ""),
            "part-works" => self.submit(ticket, Outcome::Partial, ""),
            "gives-up" => self.submit(ticket, Outcome::Blocked, ""),
            "needs-nothing" => self.submit(ticket, Outcome::NoChange, ""),
            "finds" => self.submit(ticket, Outcome::Done, rest),
            "checks" => self.verify(ticket, verdict(Ruling::Accepted, Vec::new())),
            "checks-flagged" => {
                let tests = vec!["t".to_owned()];
                let objection = Objection::TestsDeleted { tests, declared: true };
                self.verify(ticket, verdict(Ruling::Accepted, vec![objection]))
            }
            "unverified" => self.verify(ticket, verdict(Ruling::Unverified, Vec::new())),
            "red" => {
                self.verify(ticket, verdict(Ruling::Rejected, vec![Objection::RedCheck { run: run(1) }]))
            }
            "lies" => {
                let objection = Objection::ClaimNotRun { command: "make".to_owned() };
                self.verify(ticket, verdict(Ruling::Rejected, vec![objection]))
            }
            "reviewed" => self.review(ticket, ReviewVerdict::Pass),
            "reworked" => self.review(ticket, ReviewVerdict::Rework),
            "refused" => self.review(ticket, ReviewVerdict::Block),
            "passes" => {
                self.happen(ticket, "checks")?;
                match self.conduct.state(ticket) {
                    Some(State::Reviewing) => self.happen(ticket, "reviewed"),
                    _ => Ok(()),
                }
            }
            "done" => ["works", "passes", "merges"].iter().try_for_each(|verb| self.happen(ticket, verb)),
            "faults" => self.fail(ticket, rest),
            "fails" => self.climb_to_the_end(ticket),
            _ => self.happen_rarely(ticket, verb, rest),
        }
    }

    fn happen_rarely(&mut self, ticket: &TicketId, verb: &str, rest: &str) -> Result<(), Refusal> {
        let with: Vec<TicketId> = rest.split_whitespace().filter_map(|it| TicketId::parse(it).ok()).collect();
        let (ticket_id, attempt) = (ticket.clone(), self.attempt(ticket));
        match verb {
            "merges" => {
                self.begin(ticket, StepKind::Integrate)?;
                let commit = Some(format!("{ticket}-commit"));
                self.outcome(ticket, &Command::Integrated { ticket: ticket_id, commit })
            }
            // The outcome alone, as a process that was late reports it.
            "landed" => self.command(&Command::Integrated { ticket: ticket_id, commit: None }),
            "conflicts" => {
                self.begin(ticket, StepKind::Integrate)?;
                let paths = vec!["a.rs".to_owned()];
                self.outcome(ticket, &Command::Conflicted { ticket: ticket_id, paths, with })
            }
            "clashes" => {
                self.begin(ticket, StepKind::Integrate)?;
                self.outcome(ticket, &Command::RedTogether { ticket: ticket_id, run: run(1), with })
            }
            "integrates" => self.begin(ticket, StepKind::Integrate),
            "asks" => {
                self.happen(ticket, "starts")?;
                let (number, question) = (self.number(ticket), "why?".to_owned());
                self.outcome(ticket, &Command::Ask { ticket: ticket_id, attempt: number, question })
            }
            "stops" => {
                self.happen(ticket, "starts")?;
                let (attempt, reason) = (self.attempt(ticket), "no key".to_owned());
                self.outcome(ticket, &Command::ReportBlocked { ticket: ticket_id, attempt, reason })
            }
            "keeps" => {
                let (reference, commit) = ("refs/x".to_owned(), "c".to_owned());
                self.command(&Command::Checkpoint { ticket: ticket_id, attempt, reference, commit })
            }
            // An outcome of a worker that was given up.
            "late-works" => {
                let attempt = rest.parse().expect("an attempt");
                let submission = submission(Outcome::Done);
                self.command(&Command::Submit { ticket: ticket_id, attempt, head: None, submission })
            }
            "splits" => {
                self.begin(ticket, StepKind::Split)?;
                let tickets = rest.split('+').filter(|part| !part.is_empty()).map(written);
                let tickets = tickets.collect();
                self.outcome(ticket, &Command::Split { ticket: ticket_id, tickets })
            }
            other => panic!("nothing is called {other}"),
        }
    }

    /// Models fail until the ladder is at its end.
    fn climb_to_the_end(&mut self, ticket: &TicketId) -> Result<(), Refusal> {
        while !self.conduct.state(ticket).is_some_and(State::is_final) {
            self.fail(ticket, "model")?;
        }
        Ok(())
    }

    fn fail(&mut self, ticket: &TicketId, name: &str) -> Result<(), Refusal> {
        if matches!(self.conduct.state(ticket), Some(State::Ready)) && !["setup", "base"].contains(&name) {
            self.happen(ticket, "prepares")?;
        }
        self.begin_at_hand(ticket)?;
        let step = self.key(ticket);
        self.outcome(ticket, &Command::Failed { step, fault: fault(name) })
    }

    fn submit(&mut self, ticket: &TicketId, outcome: Outcome, found: &str) -> Result<(), Refusal> {
        self.happen(ticket, "starts")?;
        let (attempt, mut submission) = (self.attempt(ticket), submission(outcome));
        submission.out_of_scope = found
            .split_whitespace()
            .map(|title| DraftTicket { title: title.to_owned(), description: String::new() })
            .collect();
        let head = (outcome != Outcome::NoChange).then(|| format!("{ticket}{attempt}"));
        self.outcome(ticket, &Command::Submit { ticket: ticket.clone(), attempt, head, submission })
    }

    fn verify(&mut self, ticket: &TicketId, verdict: Verdict) -> Result<(), Refusal> {
        self.begin(ticket, StepKind::Verify)?;
        let attempt = self.attempt(ticket);
        self.outcome(
            ticket,
            &Command::Verified { ticket: ticket.clone(), attempt, verdict, run: Some(run(0)) },
        )
    }

    fn review(&mut self, ticket: &TicketId, verdict: ReviewVerdict) -> Result<(), Refusal> {
        self.begin(ticket, StepKind::Review)?;
        let (ticket_id, round) = (ticket.clone(), self.number(ticket));
        self.outcome(ticket, &Command::Reviewed { ticket: ticket_id, round, review: review(verdict) })
    }

    /// An outcome counts once: the same one again is late.
    fn outcome(&mut self, ticket: &TicketId, command: &Command) -> Result<(), Refusal> {
        self.command(command)?;
        let again = self.conduct.decide(command, self.now);
        assert!(matches!(again, Err(Refusal::Stale { .. })), "{ticket}: {command:?} twice: {again:?}");
        Ok(())
    }

    fn attempt(&self, ticket: &TicketId) -> u32 {
        self.conduct.ticket(ticket).and_then(Progress::attempt).map_or(0, |attempt| attempt.number)
    }

    fn number(&self, ticket: &TicketId) -> u32 {
        self.key(ticket).number
    }

    pub(super) fn key(&self, ticket: &TicketId) -> StepKey {
        let stage = self.conduct.ticket(ticket).and_then(Progress::stage);
        let (kind, number) = stage.unwrap_or((StepKind::Finish, 0));
        StepKey { ticket: Some(ticket.clone()), kind, number }
    }

    /// Starts a step of this kind, unless it was started. It must be the one at hand.
    fn begin(&mut self, ticket: &TicketId, kind: StepKind) -> Result<(), Refusal> {
        let step = StepKey { kind, ..self.key(ticket) };
        self.start(&step)
    }

    fn begin_at_hand(&mut self, ticket: &TicketId) -> Result<(), Refusal> {
        let step = self.key(ticket);
        self.start(&step)
    }

    /// Takes a step on, as a process does: with a casting, and with a session unless one goes on.
    pub(super) fn start(&mut self, step: &StepKey) -> Result<(), Refusal> {
        let names: Vec<String> = match step.kind {
            StepKind::Review => ["m1", "r2"].map(str::to_owned).to_vec(),
            StepKind::Split => vec!["lead".to_owned()],
            _ => (1..=self.models).map(|number| format!("m{number}")).collect(),
        };
        let missing =
            || FellBack { persona: persona::Name::parse("ghost").expect("a name"), reason: "gone".into() };
        let casting = Casting {
            persona: persona::Name::parse("coder").ok(),
            models: names.iter().map(|name| model(name)).collect(),
            fell_back: self.falls_back.then(missing),
        };
        let offered = self.conduct.steps(Limits { steps: usize::MAX });
        let going_on = offered.iter().find(|it| it.key == *step).and_then(|it| match &it.task {
            Task::Work(work) => work.session,
            Task::Review(review) => review.session,
            Task::Split { session, .. } => *session,
            _ => None,
        });
        self.sessions += 1;
        let session = going_on.or(Some(Uuid::from_u128(self.sessions)));
        self.command(&Command::Start { step: step.clone(), session, casting: Some(casting) })
    }

    pub(super) fn command(&mut self, command: &Command) -> Result<(), Refusal> {
        let events = self.conduct.decide(command, self.now)?;
        events.into_iter().for_each(|event| self.record(event));
        Ok(())
    }

    fn record(&mut self, event: Event) {
        let recorded = Recorded { seq: self.conduct.seq() + 1, at: self.now, event };
        self.conduct.apply(&recorded);
        self.log.push(recorded);
    }
}

/// `a/work/2`.
fn key(text: &str) -> StepKey {
    let words: Vec<&str> = text.split('/').collect();
    let [ticket, kind, number] = words[..] else { panic!("{text} is no step") };
    let kind = serde_json::from_value(kind.into()).expect("a kind");
    StepKey { ticket: TicketId::parse(ticket).ok(), kind, number: number.parse().expect("a number") }
}

fn prepared(ticket: &TicketId, exit_code: i32) -> Command {
    let (base, branch) = (Some("base".to_owned()), Some(format!("b/{ticket}")));
    Command::Prepared { ticket: ticket.clone(), base, branch, baseline: Some(run(exit_code)) }
}

/// Answers, as text.
impl Play {
    pub(super) fn states(&self) -> String {
        let of = |it: &Progress| match &it.need {
            Some(need) => format!("{} {} ({})", it.id(), it.state, tag(need, "need")),
            None => format!("{} {}", it.id(), it.state),
        };
        let states: Vec<String> = self.conduct.tickets().iter().map(of).collect();
        match self.conduct.phase() {
            Phase::Running => states.join(", "),
            phase => format!(
                "{} | {}",
                states.join(", "),
                serde_json::to_value(phase).expect("JSON").as_str().expect("a word")
            ),
        }
    }

    pub(super) fn steps(&self) -> String {
        let steps = self.conduct.steps(Limits::default());
        steps.iter().map(|step| self.step(step)).collect::<Vec<_>>().join(", ")
    }

    fn step(&self, step: &Step) -> String {
        let mut text = step.key.to_string();
        if step.begun {
            text.push('*');
        }
        match &step.task {
            Task::Work(work) => {
                text += &format!(" m{}", work.rung + 1);
                text += if work.session.is_some() { "" } else { " fresh" };
                text += if work.onto_target { " onto" } else { "" };
                text += &work.answer.as_ref().map(|answer| format!(" answer={answer}")).unwrap_or_default();
            }
            Task::Review(review) => {
                text += &format!(" m{}", review.rung + 1);
                text += &review.since.as_ref().map(|head| format!(" since={head}")).unwrap_or_default();
                text += &format!(" open={}", review.open.len());
            }
            Task::Split { answer, .. } => {
                text += &answer.as_ref().map(|answer| format!(" answer={answer}")).unwrap_or_default();
            }
            Task::Prepare | Task::Verify { .. } | Task::Integrate { .. } | Task::Finish => {}
        }
        if let Some(time) = step.not_before {
            text += &format!(" in {}s", (time - self.now).num_seconds());
        }
        text
    }

    pub(super) fn why(&self, ticket: &str) -> String {
        let progress = self.conduct.ticket(&id(ticket)).expect("a ticket");
        progress.evidence.iter().map(|it| tag(it, "evidence")).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn needs(&self) -> String {
        let needs = self.conduct.needs();
        needs
            .iter()
            .map(|(it, need)| format!("{} {}", it.id(), tag(need, "need")))
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub(super) fn fingerprint(&self) -> String {
        fingerprint(&self.conduct)
    }

    /// The same run, to go another way.
    pub(super) fn copy(&self) -> Self {
        Self { conduct: self.conduct.clone(), log: self.log.clone(), ..*self }
    }
}

/// Everything that a state holds, indexes included.
pub(super) fn fingerprint(it: &Conduct) -> String {
    let mut caps: Vec<_> = it.caps.tickets.iter().collect();
    caps.sort_by_key(|(id, _)| *id);
    let rest = (&it.paused, &it.ending, &it.failed_in_a_row, &it.warned, it.finishes, it.seq);
    format!("{:?}", (&it.tickets, &it.dependents, &it.agenda, caps, rest, it.steps(Limits::default())))
}

/// Invariants.
impl Play {
    /// Asserts that indexes and counts are those that a fresh look at every ticket finds, that what is worked
    /// may be worked, and that the log leads to this state.
    pub(super) fn assert_sound(&self) {
        self.assert_indexes();
        self.assert_order();
        let replayed = Conduct::replay(self.conduct.track().clone(), &self.log);
        assert_eq!(fingerprint(&replayed), self.fingerprint(), "the log leads to another state");
        for recorded in &self.log {
            let stored = serde_json::to_string(recorded).expect("JSON");
            let read: Recorded = serde_json::from_str(&stored).expect(&stored);
            assert_eq!(read, *recorded, "{stored}");
        }
    }

    pub(super) fn assert_indexes(&self) {
        let conduct = &self.conduct;
        let mut agenda = Agenda::default();
        for (at, progress) in conduct.tickets.iter().enumerate() {
            agenda.insert(at, progress, conduct.is_isolated_in());
        }
        assert_eq!(format!("{agenda:?}"), format!("{:?}", conduct.agenda), "the agenda");
        let is_dead = |it: &Progress| {
            matches!(it.state, State::Failed | State::Cancelled)
                || (it.state == State::Blocked && it.dead > 0)
        };
        let tickets: Vec<Ticket> = conduct.tickets.iter().map(|it| it.ticket.clone()).collect();
        // A track with a cycle cannot be opened. What waits for itself counts once more.
        let is_sound = cycle(&tickets).is_none();
        for it in conduct.tickets.iter().filter(|_| is_sound) {
            let below = || it.ticket.depends_on.iter().chain(&it.awaits);
            let unmet = below().filter(|id| !conduct.state(id).is_some_and(State::is_met)).count();
            let dead = below().filter(|id| conduct.ticket(id).is_none_or(is_dead)).count();
            assert_eq!((it.unmet as usize, it.dead as usize), (unmet, dead), "{}", it.id());
            let is_waiting = it.need.is_none() && it.state == State::Blocked;
            assert!(!is_waiting || unmet > 0, "{} is blocked by nothing", it.id());
            assert!(it.state != State::Ready || unmet == 0, "{} is ready too early", it.id());
        }
    }

    /// Asserts that nothing is worked before its dependencies are met, and no more at once than may be.
    pub(super) fn assert_order(&self) {
        let conduct = &self.conduct;
        let mut places = 0;
        for it in &conduct.tickets {
            let is_open = it.state.is_worked()
                || matches!(it.state, State::NeedsInput | State::Queued | State::Integrating | State::Merged);
            let is_met = |id: &TicketId| conduct.state(id).is_some_and(State::is_met);
            let depends_on = &it.ticket.depends_on;
            assert!(!is_open || depends_on.iter().all(is_met), "{} is {} too early", it.id(), it.state);
            places += usize::from(it.state.is_worked() && !it.parked);
        }
        assert!(places <= conduct.concurrency(), "{places} tickets are worked at once");
        let merging = conduct.tickets.iter().filter(|it| it.state == State::Integrating).count();
        assert!(merging <= 1, "{merging} tickets are merged at once");
        let mut keys: Vec<_> = conduct.steps(Limits::default()).into_iter().map(|it| it.key.ticket).collect();
        let offered = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), offered, "a ticket has one step at a time");
    }
}
