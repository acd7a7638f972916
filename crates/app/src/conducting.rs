//! Tracks: tickets that personas work, one step after the other, until they are merged or a person is needed.
//!
//! `conductor` decides; this module takes the steps that it offers and tells it how they ended. A track that
//! this process works has an engine: one task, which claims tickets for its steps and renews the claims.

mod board;
mod casting;
mod changes;
mod claims;
mod cleaning;
mod commands;
mod drafting;
mod duties;
mod engine;
mod ground;
mod handover;
mod log;
mod observing;
mod opening;
mod planning;
mod steps;
mod till;
mod tool_calls;
mod watching;
mod wording;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::ApprovalPolicy;
use conductor::{Fault, Isolation, Mma};
use database::Engine as Database;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use tracks::{Fence, Tracks};
use uuid::Uuid;

pub(crate) use duties::{run_check, tools as duty_tools};
pub(crate) use till::{Till, paid};
pub use watching::{TrackEvent, TrackEvents};
pub use wording::{evidence, fault, need, objection};

use crate::{Result, Runtime, TrackError};
use claims::Claims;
use engine::Engine;
use ground::Ground;
use log::TrackLog;

/// The tracks of this process.
#[derive(Debug)]
pub(crate) struct Conducting {
    pub(crate) tracks: Tracks,
    claims: Claims,
    /// The user's own personas and models of tiers.
    mma: Mma,
    worktrees: Option<PathBuf>,
    live: Mutex<HashMap<Uuid, Live>>,
    sessions: Mutex<HashMap<Uuid, SessionAtWork>>,
}

/// A track that this process works.
#[derive(Debug)]
struct Live {
    log: Arc<TrackLog>,
    stop: CancellationToken,
    task: JoinHandle<()>,
    /// True once the engine has seen the end of the track.
    is_over: bool,
}

impl Live {
    fn is_at_work(&self) -> bool {
        !self.is_over && !self.task.is_finished()
    }
}

/// A session that a step of this process drives.
#[derive(Debug)]
struct SessionAtWork {
    work: AtWork,
    /// Why one of its calls was refused.
    fault: Option<Fault>,
}

/// The step that pays for a session.
#[derive(Debug, Clone)]
pub(crate) struct AtWork {
    log: Arc<TrackLog>,
    fence: Fence,
}

impl Conducting {
    pub(crate) fn new(database: &Database, mma: Mma, worktrees: Option<PathBuf>) -> Self {
        let tracks = Tracks::new(database.clone());
        let claims = Claims::new(tracks.clone());
        Self { tracks, claims, mma, worktrees, live: Mutex::default(), sessions: Mutex::default() }
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Uuid, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Uuid, SessionAtWork>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory of worktrees. Fails if it is not configured and the user has no home.
    fn worktrees_home(&self) -> Result<PathBuf> {
        if let Some(home) = &self.worktrees {
            return Ok(home.clone());
        }
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
        let state = state.ok_or(TrackError::NoPlace)?;
        Ok(state.join("masque").join("worktrees"))
    }

    /// The policy of workers: they change files of their own checkout, and ask for everything else.
    const fn policy(&self) -> ApprovalPolicy {
        ApprovalPolicy::Edit
    }

    /// The step that pays for a session, if one does.
    fn at_work(&self, session: Uuid) -> Option<AtWork> {
        self.sessions().get(&session).map(|it| it.work.clone())
    }

    /// Notes why a call of a session was refused.
    fn set_fault(&self, session: Uuid, fault: Fault) {
        if let Some(it) = self.sessions().get_mut(&session) {
            it.fault = Some(fault);
        }
    }

    /// Why a call of a session was refused, if one was.
    fn take_fault(&self, session: Uuid) -> Option<Fault> {
        self.sessions().get_mut(&session).and_then(|it| it.fault.take())
    }

    /// Has a step pay for a session until the value is dropped.
    fn pay(&self, session: Uuid, log: &Arc<TrackLog>, fence: &Fence) -> Paying<'_> {
        let work = AtWork { log: Arc::clone(log), fence: fence.clone() };
        self.sessions().insert(session, SessionAtWork { work, fault: None });
        Paying { conducting: self, session }
    }

    /// The log of a track: the one that its engine has, or another one.
    async fn log(&self, id: Uuid) -> Result<Arc<TrackLog>> {
        let live = self.live().get(&id).map(|live| Arc::clone(&live.log));
        match live {
            Some(log) => Ok(log),
            None => Ok(Arc::new(TrackLog::open(&self.tracks, id).await?)),
        }
    }

    /// Ends the work on a track that came to its end, unless its log went on meanwhile: what is appended
    /// later finds that nobody works it.
    fn leave(&self, log: &TrackLog, seq: u64) -> bool {
        let mut live = self.live();
        let is_over = log.seq() == seq;
        if let Some(live) = live.get_mut(&log.id) {
            live.is_over = is_over;
        }
        is_over
    }

    /// True if this process worked a track to its end.
    fn has_left(&self, id: Uuid) -> bool {
        self.live().get(&id).is_some_and(|live| live.is_over)
    }

    /// True while this process works a track.
    pub(crate) fn is_working(&self) -> bool {
        self.live().values().any(|live| !live.task.is_finished())
    }

    /// Stops working tracks, and waits until the steps at work have stopped.
    pub(crate) async fn stop(&self) {
        let live: Vec<Live> = self.live().drain().map(|(_, live)| live).collect();
        live.iter().for_each(|live| live.stop.cancel());
        for live in live {
            if let Err(error) = live.task.await {
                tracing::error!(%error, "the work on a track broke down");
            }
        }
    }
}

/// A session that a step pays for.
struct Paying<'a> {
    conducting: &'a Conducting,
    session: Uuid,
}

impl Drop for Paying<'_> {
    fn drop(&mut self) {
        self.conducting.sessions().remove(&self.session);
    }
}

impl Runtime {
    /// Works a track in this process, unless it does so already or the track has ended.
    async fn engage(&self, log: Arc<TrackLog>, isolation: Isolation) -> Result<()> {
        let conducting = self.conducting();
        if conducting.live().get(&log.id).is_some_and(Live::is_at_work) {
            return Ok(());
        }
        let project = self.project_root()?;
        if project != log.project {
            return Err(TrackError::OtherProject { track: log.id, project: log.project.clone() }.into());
        }
        let ground = Ground::open(self, &project, (log.id, &log.rules), isolation).await?;
        let stop = self.stopping().child_token();
        let mut live = conducting.live();
        if live.get(&log.id).is_some_and(Live::is_at_work) {
            return Ok(());
        }
        let engine = Engine { runtime: self.clone(), log: Arc::clone(&log), ground, stop: stop.clone() };
        let task = tokio::spawn(engine.run().in_current_span());
        live.insert(log.id, Live { log, stop, task, is_over: false });
        Ok(())
    }
}
