//! Works a track in this process: takes the steps that the machine offers, and reports how they ended.
//!
//! All state is the log. A step that is taken again, here or in another process, finds its session and its
//! commits, and goes on from there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use conductor::{Command, Conduct, Limits, Phase, Refusal, Step, StepKey};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use tracks::Fence;

use super::ground::Ground;
use super::log::{Said, TrackLog};
use super::steps::{self, Job};
use crate::{Result, Runtime};

/// How often the log is looked at for what other processes appended.
const POLL: Duration = Duration::from_millis(400);
/// The pause after the database failed.
const PAUSE: Duration = Duration::from_secs(1);

/// The work of this process on one track.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) runtime: Runtime,
    pub(super) log: Arc<TrackLog>,
    pub(super) ground: Ground,
    /// Cancelled when this process no longer works the track.
    pub(super) stop: CancellationToken,
}

/// A step that this process has taken.
#[derive(Debug)]
struct Taken {
    task: Id,
    fence: Fence,
    cancel: CancellationToken,
}

/// What became of one look at the log.
enum Turn {
    /// The track ended with this event.
    Over { seq: u64 },
    /// There is nothing more to do for so long.
    Wait(Duration),
}

/// What one look at the log shows.
struct View {
    is_over: bool,
    /// The number of the last event.
    seq: u64,
    offered: Vec<Step>,
    /// Steps of this process that were decided otherwise meanwhile.
    stale: Vec<StepKey>,
}

impl Engine {
    /// Works the track until it ends, or until this process stops.
    pub(super) async fn run(self) {
        let engine = Arc::new(self);
        let mut news = engine.log.follow();
        let mut taken: HashMap<StepKey, Taken> = HashMap::new();
        let mut tasks: JoinSet<()> = JoinSet::new();
        let renewing = tokio::time::interval(agent::limits::HEARTBEAT);
        tokio::pin!(renewing);
        loop {
            let wake = match engine.turn(&mut taken, &mut tasks).await {
                Ok(Turn::Over { seq }) => {
                    end(&mut taken, &mut tasks).await;
                    if engine.runtime.conducting().leave(&engine.log, seq) {
                        return;
                    }
                    continue;
                }
                Ok(Turn::Wait(wake)) => wake,
                Err(error) => {
                    tracing::warn!(track = %engine.log.id, %error, "the track waits for the database");
                    PAUSE
                }
            };
            tokio::select! {
                () = engine.stop.cancelled() => break,
                Some(ended) = tasks.join_next_with_id() => forget(&mut taken, ended),
                changed = news.changed() => drop(changed),
                _ = renewing.tick() => engine.renew(&taken).await,
                () = tokio::time::sleep(wake) => {}
            }
        }
        end(&mut taken, &mut tasks).await;
    }

    /// Looks at the log, and takes what can be taken.
    async fn turn(
        self: &Arc<Self>,
        taken: &mut HashMap<StepKey, Taken>,
        tasks: &mut JoinSet<()>,
    ) -> Result<Turn> {
        self.log.catch_up().await?;
        let now = Utc::now();
        let keys: Vec<StepKey> = taken.keys().cloned().collect();
        let View { is_over, seq, offered, stale } =
            self.log.look(|conduct| view(conduct, &keys, now)).await?;
        if is_over {
            return Ok(Turn::Over { seq });
        }
        for key in stale {
            if let Some(step) = taken.get(&key) {
                step.cancel.cancel();
            }
        }
        let mut wake = POLL;
        for step in offered {
            if taken.keys().any(|key| key.ticket == step.key.ticket) {
                continue;
            }
            if let Some(time) = step.not_before.filter(|time| *time > now) {
                wake = wake.min((time - now).to_std().unwrap_or(POLL));
                continue;
            }
            let ticket = step.key.ticket.as_ref();
            let claims = &self.runtime.conducting().claims;
            let Some(fence) = claims.take(self.log.id, ticket).await? else { continue };
            let cancel = self.stop.child_token();
            let (engine, key) = (Arc::clone(self), step.key.clone());
            let span = tracing::info_span!("step", track = %self.log.id, %key);
            let work = engine.take(step, fence.clone(), cancel.clone()).instrument(span);
            let task = tasks.spawn(work).id();
            taken.insert(key, Taken { task, fence, cancel });
        }
        Ok(Turn::Wait(wake))
    }

    /// Renews the claims of the steps at work. One that is lost stops its step.
    async fn renew(&self, taken: &HashMap<StepKey, Taken>) {
        if taken.is_empty() {
            return;
        }
        let fences: Vec<Fence> = taken.values().map(|step| step.fence.clone()).collect();
        match self.runtime.conducting().tracks.renew(&fences).await {
            Ok(renewed) => {
                for (step, holds) in taken.values().zip(renewed) {
                    if !holds {
                        step.cancel.cancel();
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "the claims of a track were not renewed"),
        }
    }

    /// Takes one step to its end, and gives its ticket back.
    async fn take(self: Arc<Self>, step: Step, fence: Fence, cancel: CancellationToken) {
        if let Err(error) = self.perform(step, &fence, &cancel).await {
            tracing::warn!(%error, "the step is taken again");
            self.pause().await;
        }
        if let Err(error) = self.runtime.conducting().tracks.release(&fence).await {
            tracing::warn!(%error, "the claim of a ticket was not released");
        }
    }

    /// Waits before something is tried again.
    async fn pause(&self) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }

    async fn perform(&self, step: Step, fence: &Fence, cancel: &CancellationToken) -> Result<()> {
        if step.begun {
            // Its calls of models under the claim before this one are spent at worst.
            self.runtime.conducting().tracks.abandon(fence).await?;
        }
        let (runtime, log, ground) = (self.runtime.clone(), Arc::clone(&self.log), self.ground.clone());
        let job = Job::new(runtime, log, ground, fence.clone(), cancel.clone());
        let Some(command) = steps::take(&job, &step).await? else { return Ok(()) };
        self.conclude(&command, fence, cancel).await
    }

    /// Stores how a step ended, as soon as the database takes it.
    async fn conclude(&self, command: &Command, fence: &Fence, cancel: &CancellationToken) -> Result<()> {
        loop {
            match self.log.say(command, Some(fence)).await {
                Ok(Said::Done(_)) => return Ok(()),
                Ok(Said::Fenced) => {
                    tracing::info!("another process has taken the ticket over");
                    return Ok(());
                }
                Ok(Said::Refused(refusal)) => {
                    tracing::info!(?refusal, "the outcome of a step came too late");
                    self.pause().await;
                    return Ok(());
                }
                Err(error) if cancel.is_cancelled() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, "the outcome of a step is not stored yet");
                    self.pause().await;
                }
            }
        }
    }
}

fn view(conduct: &Conduct, taken: &[StepKey], now: DateTime<Utc>) -> View {
    let phase = conduct.phase();
    let is_over = matches!(phase, Phase::Finished | Phase::Cancelled) || conduct.is_newer();
    let is_stale = |key: &&StepKey| {
        let start = Command::Start { step: (*key).clone(), session: None, casting: None };
        matches!(conduct.decide(&start, now), Err(Refusal::Stale { .. } | Refusal::Ended))
    };
    let stale = taken.iter().filter(is_stale).cloned().collect();
    View { is_over, seq: conduct.seq(), offered: conduct.steps(Limits::default()), stale }
}

/// Stops the steps at work, and waits for their ends.
async fn end(taken: &mut HashMap<StepKey, Taken>, tasks: &mut JoinSet<()>) {
    taken.values().for_each(|step| step.cancel.cancel());
    while tasks.join_next().await.is_some() {}
    taken.clear();
}

/// Forgets a step that has ended. If it broke down, its claim is not renewed, and the step is taken again.
fn forget(taken: &mut HashMap<StepKey, Taken>, ended: std::result::Result<(Id, ()), JoinError>) {
    let task = match ended {
        Ok((task, ())) => task,
        Err(error) => {
            tracing::error!(%error, "a step broke down");
            error.id()
        }
    };
    taken.retain(|_, step| step.task != task);
}
