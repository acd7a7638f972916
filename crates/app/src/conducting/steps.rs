//! The steps of a track, one file each: from a task to the command that says how it ended.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{Duty, DutyRole};
use conductor::{
    Casting, CheckRun, Command, Event, Fault, Model, Progress, Role, Step, StepKey, StepKind, Task, TicketId,
    Track,
};
use persona::Name;
use tokio_util::sync::CancellationToken;
use tracks::Fence;
use uuid::Uuid;
use worktrees::Worktree;

use super::casting::{self, Settings};
use super::ground::{Ground, check_run, run_in_project};
use super::handover::handover;
use super::log::{Said, TrackLog};
use super::wording;
use crate::{Error, ErrorKind, Result, Runtime};

mod integrate;
mod prepare;
mod review;
mod split;
mod verify;
mod work;

/// Bytes of an error in the log.
const MESSAGE_BYTES: usize = 2_000;

/// A step at work, under a claim.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) runtime: Runtime,
    pub(super) log: Arc<TrackLog>,
    pub(super) ground: Ground,
    pub(super) fence: Fence,
    pub(super) cancel: CancellationToken,
}

/// A ticket as a step finds it.
#[derive(Debug)]
pub(super) struct Matter {
    key: StepKey,
    pub(super) ticket: TicketId,
    rules: Arc<Track>,
    pub(super) progress: Progress,
    pub(super) check: Option<String>,
    /// The checks of a tree that is to become the target.
    pub(super) target_checks: Vec<String>,
    scope: Vec<String>,
}

/// The session of a step that calls a model.
#[derive(Debug, Clone)]
struct Cast {
    session: Uuid,
    persona: Name,
    model: Model,
}

/// The directory in which a ticket is worked.
#[derive(Debug)]
struct Place {
    root: PathBuf,
    /// `None` in the project's directory.
    worktree: Option<Worktree>,
}

/// Starts a step and takes it to its end. `None` if there is nothing to report: it was decided otherwise, or
/// this process stops.
pub(super) async fn take(job: &Job, step: &Step) -> Result<Option<Command>> {
    let Some(ticket) = &step.key.ticket else { return Ok(Some(Command::Finish)) };
    let Some((mut matter, cast)) = job.start(step, ticket).await? else { return Ok(None) };
    let taken = match (&step.task, cast) {
        (Task::Prepare, _) => prepare::take(job, &matter).await,
        (Task::Work(task), Some(cast)) => work::take(job, &mut matter, task, cast).await,
        (Task::Verify { attempt, head }, _) => verify::take(job, &matter, *attempt, head.as_deref()).await,
        (Task::Review(task), Some(cast)) => review::take(job, &matter, task, cast).await,
        (Task::Split { answer, .. }, Some(cast)) => split::take(job, &matter, answer.as_deref(), cast).await,
        (Task::Integrate { head }, _) => integrate::take(job, &matter, head.as_deref()).await,
        (Task::Finish | Task::Work(_) | Task::Review(_) | Task::Split { .. }, _) => return Ok(None),
    };
    match taken {
        Ok(command) => Ok(command),
        Err(_) if job.cancel.is_cancelled() => Ok(None),
        Err(error) => Ok(Some(matter.failed(fault_of(step.key.kind, &error)))),
    }
}

/// The fault of a step that an error ended.
fn fault_of(kind: StepKind, error: &Error) -> Fault {
    let message = shortened(&error.to_string());
    let is_lasting = matches!(
        error.kind(),
        ErrorKind::Missing | ErrorKind::Conflict | ErrorKind::Invalid | ErrorKind::Denied
    );
    match kind {
        StepKind::Prepare if is_lasting => Fault::Setup { message, run: None },
        _ => Fault::Machine { message },
    }
}

pub(super) fn shortened(message: &str) -> String {
    let end = message.char_indices().map(|(at, _)| at).find(|at| *at >= MESSAGE_BYTES);
    end.map_or_else(|| message.to_owned(), |end| format!("{}…", &message[..end]))
}

/// The part that a model plays in a step.
fn role_of(kind: StepKind) -> Option<Role> {
    match kind {
        StepKind::Work => Some(Role::Worker),
        StepKind::Review => Some(Role::Reviewer),
        StepKind::Split => Some(Role::Lead),
        StepKind::Prepare | StepKind::Verify | StepKind::Integrate | StepKind::Finish => None,
    }
}

impl Job {
    pub(super) fn new(
        runtime: Runtime,
        log: Arc<TrackLog>,
        ground: Ground,
        fence: Fence,
        cancel: CancellationToken,
    ) -> Self {
        Self { runtime, log, ground, fence, cancel }
    }

    /// Starts a step, unless it was started before. `None` if it may not start any more.
    async fn start(&self, step: &Step, ticket: &TicketId) -> Result<Option<(Matter, Option<Cast>)>> {
        let before = self.matter(step, ticket).await?;
        let Some(before) = before else { return Ok(None) };
        let casting = match role_of(step.key.kind) {
            Some(role) => Some(self.cast(&before, role).await),
            None => None,
        };
        let known = match &step.task {
            Task::Work(task) => task.session,
            Task::Review(task) => task.session,
            Task::Split { session, .. } => *session,
            _ => None,
        };
        let session = known.is_none().then(Uuid::now_v7);
        let start = Command::Start { step: step.key.clone(), session, casting: casting.clone() };
        let recorded = match self.log.say(&start, Some(&self.fence)).await? {
            Said::Done(recorded) => recorded,
            Said::Refused(refusal) => {
                tracing::debug!(?refusal, "the step does not start");
                return Ok(None);
            }
            Said::Fenced => return Ok(None),
        };
        let Some(mut matter) = self.matter(step, ticket).await? else { return Ok(None) };
        self.find_base(&mut matter).await?;
        let started = recorded.iter().find_map(|recorded| match &recorded.event {
            Event::SplitStarted { session, model, .. } => Some((*session, model.clone())),
            _ => None,
        });
        let cast = casting.and_then(|casting| matter.cast(casting, started, known));
        Ok(Some((matter, cast)))
    }

    async fn matter(&self, step: &Step, ticket: &TicketId) -> Result<Option<Matter>> {
        let rules = Arc::clone(&self.log.rules);
        let key = step.key.clone();
        self.log
            .look(|conduct| {
                let progress = conduct.ticket(ticket)?.clone();
                let check = conduct.check_of(&progress.ticket).map(str::to_owned);
                let target_checks = conduct.target_checks_of(&progress.ticket);
                let scope = conduct.scope_of(&progress.ticket).to_vec();
                Some(Matter { key, ticket: ticket.clone(), rules, progress, check, target_checks, scope })
            })
            .await
    }

    /// Takes the base from git: a ticket that was brought onto a newer target has another one than the log.
    async fn find_base(&self, matter: &mut Matter) -> Result<()> {
        if let Ground::Trees(trees) = &self.ground
            && let Some(base) = trees.base_of(&matter.ticket).await?
        {
            matter.progress.base = Some(base.to_string());
        }
        Ok(())
    }

    async fn cast(&self, matter: &Matter, role: Role) -> Casting {
        let settings = Settings { track: &matter.rules, user: &self.runtime.conducting().mma };
        let chosen = matter.progress.chosen_persona.as_ref().filter(|_| role == Role::Worker);
        let casting = casting::cast(&self.runtime, settings, &matter.progress.ticket, role, chosen).await;
        if let Some(fell_back) = &casting.fell_back {
            let (ticket, persona, reason) = (&matter.ticket, &fell_back.persona, &fell_back.reason);
            tracing::warn!(%ticket, %persona, %reason, "a persona cannot be loaded; the defaults take over");
        }
        casting
    }

    /// The directory of a ticket.
    async fn place(&self, matter: &Matter) -> Result<Place> {
        match &self.ground {
            Ground::Project(root) => Ok(Place { root: root.clone(), worktree: None }),
            Ground::Trees(trees) => {
                let worktree = trees.worktree(&matter.ticket, matter.progress.base.as_deref()).await?;
                Ok(Place { root: worktree.path().to_owned(), worktree: Some(worktree) })
            }
        }
    }

    /// Runs a ticket's check in the project's directory.
    async fn check_project(&self, root: &std::path::Path, line: &str) -> Result<CheckRun> {
        run_in_project(&self.runtime, root, line, &self.cancel).await
    }
}

impl Matter {
    fn failed(&self, fault: Fault) -> Command {
        Command::Failed { step: self.key.clone(), fault }
    }

    /// The session, the persona and the model of a step, as the log has them.
    fn cast(&self, casting: Casting, started: Option<(Uuid, Model)>, known: Option<Uuid>) -> Option<Cast> {
        let of = |tier: conductor::Tier| Name::parse(tier.builtin_persona()).ok();
        let (session, persona, model, tier) = match self.key.kind {
            StepKind::Work => {
                let attempt = self.progress.attempts.last()?;
                let tier = self.progress.ticket.tier;
                (attempt.session, attempt.persona.clone(), attempt.model.clone(), tier)
            }
            StepKind::Review => {
                let round = self.progress.rounds.last()?;
                (round.session, round.persona.clone(), round.model.clone(), conductor::Tier::Reviewer)
            }
            _ => {
                let (session, model) = match (started, known) {
                    (Some(started), _) => started,
                    (None, Some(session)) => (session, casting.models.into_iter().next()?),
                    (None, None) => return None,
                };
                (session, casting.persona, model, conductor::Tier::TechLead)
            }
        };
        Some(Cast { session, persona: persona.or_else(|| of(tier))?, model })
    }

    fn duty(&self, track: Uuid, role: DutyRole) -> Duty {
        let ticket = &self.progress.ticket;
        Duty {
            ticket: Some(ticket.id.to_string()),
            files: ticket.files.clone(),
            context_preset: ticket.context_preset.clone(),
            check: self.check.clone(),
            ..Duty::of_track(track, role)
        }
    }
}
