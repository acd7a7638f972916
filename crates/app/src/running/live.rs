//! A session that this process runs or watches: its recent events, and controls of its run.
//!
//! Entries of the log are stored before they are reported here. Only passing events exist here alone:
//! a viewer that arrives in between gets them from the buffer, and one that is too slow for the buffer
//! reads the log instead.

mod feed;
mod run_slot;

use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::Mode;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(super) use feed::{Buffered, EventFeed};
pub use feed::{EventId, Reported};
use run_slot::RunSlot;

/// A session that this process runs, or that is watched from here.
#[derive(Debug)]
pub(super) struct LiveSession {
    pub(super) id: Uuid,
    /// The session that delegated to this one.
    parent: Option<Arc<LiveSession>>,
    mode: Mutex<KnownMode>,
    pub(super) feed: EventFeed,
    pub(super) run: RunSlot,
}

/// A mode, and the place in the log as of which it is known. A mode that was read earlier and arrives
/// later must not undo a switch.
#[derive(Debug)]
struct KnownMode {
    mode: Mode,
    seq: i64,
}

impl LiveSession {
    pub(super) fn new(id: Uuid, parent: Option<Arc<Self>>, mode: Mode, last_seq: i64) -> Self {
        let mode = Mutex::new(KnownMode { mode, seq: last_seq });
        Self { id, parent, mode, feed: EventFeed::new(last_seq), run: RunSlot::default() }
    }

    fn known_mode(&self) -> MutexGuard<'_, KnownMode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The effective mode: a session below one that plans, plans.
    pub(super) fn mode(&self) -> Mode {
        let own = self.known_mode().mode;
        Mode::strictest([own].into_iter().chain(self.parent.as_ref().map(|parent| parent.mode())))
    }

    /// Sets the mode as of a place in the log.
    pub(super) fn set_mode(&self, mode: Mode, seq: i64) {
        let mut known = self.known_mode();
        if seq >= known.seq {
            *known = KnownMode { mode, seq };
        }
    }

    /// Plans until the log says otherwise. For news from other processes, which do not say as of which
    /// place they are true; news of build mode wait for the next entry, because they could be late.
    pub(super) fn plan(&self) {
        self.known_mode().mode = Mode::Plan;
    }

    /// Starts a run that holds the session under a name. It stops when the guard is dropped.
    pub(super) fn start(
        self: &Arc<Self>,
        holder: String,
        cancel: CancellationToken,
        detached: bool,
    ) -> LiveRun {
        let number = self.run.start(holder, cancel, detached);
        LiveRun { session: Arc::clone(self), number, is_unwanted: false }
    }

    /// Adds a viewer. The position is that of the oldest event in the buffer.
    pub(super) fn watch(self: &Arc<Self>) -> (Viewer, watch::Receiver<u64>, u64) {
        self.run.add_viewer();
        let viewer = Viewer(Arc::clone(self));
        let (receiver, position) = self.feed.subscribe();
        (viewer, receiver, position)
    }

    /// True if this session, or one that delegated to it, has a viewer.
    pub(super) fn is_watched(&self) -> bool {
        self.run.has_viewers() || self.parent.as_ref().is_some_and(|parent| parent.is_watched())
    }
}

/// The current run of a live session. However it ends, also if its task is dropped or panics, the
/// session no longer counts as running, so its lease is not renewed.
#[derive(Debug)]
pub(super) struct LiveRun {
    session: Arc<LiveSession>,
    number: u64,
    /// A user cancelled the run.
    is_unwanted: bool,
}

impl LiveRun {
    /// Records that a user at another process cancelled the run.
    pub(super) fn mark_unwanted(&mut self) {
        self.is_unwanted = true;
    }

    /// The run no longer drives its session. Returns true if a user had cancelled it.
    pub(super) fn stop(&mut self) -> bool {
        self.is_unwanted |= self.session.run.stop(self.number);
        // Viewers have to poll the log from now on.
        self.session.feed.wake();
        self.is_unwanted
    }
}

impl Deref for LiveRun {
    type Target = LiveSession;

    fn deref(&self) -> &LiveSession {
        &self.session
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Counts as a viewer until it is dropped.
#[derive(Debug)]
pub(super) struct Viewer(pub(super) Arc<LiveSession>);

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.run.remove_viewer();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(parent: Option<&Arc<LiveSession>>, mode: Mode) -> Arc<LiveSession> {
        Arc::new(LiveSession::new(Uuid::nil(), parent.cloned(), mode, 5))
    }

    #[test]
    fn a_session_below_one_that_plans_plans() {
        let above = live(None, Mode::Build);
        let below = live(Some(&above), Mode::Build);
        above.set_mode(Mode::Plan, 6);
        assert_eq!(below.mode(), Mode::Plan);
        above.set_mode(Mode::Build, 7);
        assert_eq!(below.mode(), Mode::Build);
    }

    #[test]
    fn late_news_of_the_mode_undo_no_switch() {
        let live = live(None, Mode::Build);
        live.set_mode(Mode::Plan, 8);
        live.set_mode(Mode::Build, 7);
        assert_eq!(live.mode(), Mode::Plan);
        live.set_mode(Mode::Build, 8);
        assert_eq!(live.mode(), Mode::Build);
        live.plan();
        assert_eq!(live.mode(), Mode::Plan);
    }

    #[test]
    fn a_viewer_above_watches_too() {
        let above = live(None, Mode::Build);
        let below = live(Some(&above), Mode::Build);
        assert!(!below.is_watched());
        let watching = above.watch();
        assert!(below.is_watched());
        drop(watching);
        assert!(!below.is_watched());
    }

    #[test]
    fn a_dropped_run_no_longer_runs() {
        let live = live(None, Mode::Build);
        let run = live.start("n.1".to_owned(), CancellationToken::new(), false);
        assert!(live.run.is_running());
        drop(run);
        assert!(!live.run.is_running());
    }
}
