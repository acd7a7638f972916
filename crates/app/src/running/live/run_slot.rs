//! The current run of a session, and its viewers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Holds at most one run. A run that is not detached ends with its last viewer.
#[derive(Debug, Default)]
pub(in crate::running) struct RunSlot(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    current: Option<RunControl>,
    /// The number of runs that began.
    started: u64,
    viewers: usize,
}

/// Controls of the current run.
#[derive(Debug)]
struct RunControl {
    cancel: CancellationToken,
    /// Continues without viewers.
    detached: bool,
    /// The name under which the run holds its session.
    holder: String,
    number: u64,
    /// A user cancelled it. That also ends a run that begins to wait at this moment; the loss of the
    /// last viewer and the end of the process do not.
    is_unwanted: bool,
}

impl RunSlot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run. Returns its number, by which it is stopped.
    pub(super) fn start(&self, holder: String, cancel: CancellationToken, detached: bool) -> u64 {
        let mut state = self.state();
        let detached = detached || state.viewers == 0;
        state.started += 1;
        let number = state.started;
        // A run that is still here when the next one begins has lost the session.
        if let Some(lost) = &state.current {
            lost.cancel.cancel();
        }
        state.current = Some(RunControl { cancel, detached, holder, number, is_unwanted: false });
        number
    }

    /// Stops a run, unless the next one has begun already. Returns true if a user had cancelled it.
    pub(super) fn stop(&self, number: u64) -> bool {
        let stopped = self.state().current.take_if(|run| run.number == number);
        stopped.is_some_and(|run| run.is_unwanted)
    }

    pub(in crate::running) fn is_running(&self) -> bool {
        self.state().current.is_some()
    }

    /// The name under which the current run holds its session.
    pub(in crate::running) fn holder(&self) -> Option<String> {
        self.state().current.as_ref().map(|run| run.holder.clone())
    }

    /// Stops a run that no longer holds its session, unless the next one has begun already.
    pub(in crate::running) fn interrupt_lost(&self, holder: &str) {
        if let Some(control) = self.state().current.as_ref().filter(|run| run.holder == holder) {
            control.cancel.cancel();
        }
    }

    /// Cancels the run on a user's behalf.
    pub(in crate::running) fn cancel(&self) {
        if let Some(control) = &mut self.state().current {
            control.is_unwanted = true;
            control.cancel.cancel();
        }
    }

    /// Cancels the run because the process ends.
    pub(in crate::running) fn interrupt(&self) {
        if let Some(control) = &self.state().current {
            control.cancel.cancel();
        }
    }

    pub(super) fn add_viewer(&self) {
        self.state().viewers += 1;
    }

    pub(super) fn remove_viewer(&self) {
        let mut state = self.state();
        state.viewers -= 1;
        if state.viewers == 0
            && let Some(control) = state.current.as_ref().filter(|control| !control.detached)
        {
            control.cancel.cancel();
        }
    }

    pub(super) fn has_viewers(&self) -> bool {
        self.state().viewers > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a run with as many viewers. Returns its slot, number and token.
    fn started(viewers: usize, detached: bool) -> (RunSlot, u64, CancellationToken) {
        let (slot, cancel) = (RunSlot::default(), CancellationToken::new());
        (0..viewers).for_each(|_| slot.add_viewer());
        let number = slot.start("n.1".to_owned(), cancel.clone(), detached);
        (slot, number, cancel)
    }

    #[test]
    fn the_last_viewer_cancels_a_run_that_is_not_detached() {
        let (slot, _, cancel) = started(2, false);
        slot.remove_viewer();
        assert!(!cancel.is_cancelled());
        slot.remove_viewer();
        assert!(cancel.is_cancelled());
    }

    #[test]
    fn a_detached_run_needs_no_viewer() {
        let (slot, _, cancel) = started(1, true);
        slot.remove_viewer();
        assert!(!cancel.is_cancelled());
        // A run that began without a viewer does not end with one that came later.
        let (slot, _, cancel) = started(0, false);
        slot.add_viewer();
        slot.remove_viewer();
        assert!(!cancel.is_cancelled());
    }

    #[test]
    fn only_a_users_cancel_makes_a_run_unwanted() {
        let (slot, number, cancel) = started(1, false);
        slot.interrupt();
        assert!(cancel.is_cancelled() && !slot.stop(number));
        let (slot, number, cancel) = started(1, false);
        slot.cancel();
        assert!(cancel.is_cancelled() && slot.stop(number));
    }

    #[test]
    fn a_lost_run_is_interrupted_and_its_successor_is_not() {
        let (slot, _, first) = started(0, false);
        let second = CancellationToken::new();
        slot.interrupt_lost("n.2");
        assert!(!first.is_cancelled());
        slot.start("n.2".to_owned(), second.clone(), false);
        assert!(first.is_cancelled());
        slot.interrupt_lost("n.1");
        assert!(!second.is_cancelled());
        slot.interrupt_lost("n.2");
        assert!(second.is_cancelled());
    }

    #[test]
    fn a_run_does_not_stop_its_successor() {
        let (slot, first, _) = started(0, false);
        let second = slot.start("n.2".to_owned(), CancellationToken::new(), false);
        assert!(!slot.stop(first) && slot.is_running());
        slot.stop(second);
        assert!(!slot.is_running());
    }
}
