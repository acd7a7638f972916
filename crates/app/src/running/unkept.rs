//! A run whose entries the database does not take.
//!
//! It cannot go on: what is told must be on record. Its end is put on record as soon as the database
//! takes it again; where that takes too long the session is let go, as a process does that dies:
//! nobody renews its lease, and whoever comes next finds calls without results and answers them.

use std::time::Duration;

use agent::{End, ErrorCode, Event, Note};
use sessions::{After, RunChange};
use tokio::time::Instant;

use super::drive::{Driven, Driver, NotKept};
use super::gone::last_entries;

/// How long the end of a run is tried to be kept.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait between tries: at first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

impl Driver {
    /// Ends a run because of what the database said.
    pub(super) async fn end_unkept(&mut self, error: &sessions::Error) -> Driven {
        let message = format!("the session could not be kept: {error}");
        let deadline = Instant::now() + PATIENCE;
        let mut wait = FIRST_WAIT;
        let mut is_told = false;
        loop {
            match tokio::time::timeout_at(deadline, self.keep_failure(&message)).await {
                Ok(Ok(())) => break,
                Ok(Err(NotKept(error))) if error.kind() == persona::ErrorKind::Conflict => {
                    return self.lose(&error);
                }
                Ok(Err(NotKept(error))) => {
                    tracing::debug!(session = %self.session.id, %error, "the run's end is not kept yet");
                }
                Err(_) => {}
            }
            // The end itself is told when it is true.
            if !std::mem::replace(&mut is_told, true) {
                let message = message.clone();
                self.live.tell_passing(Event::Error { code: ErrorCode::Storage, message });
            }
            let is_stopping = tokio::select! {
                () = self.runtime.stopping.cancelled() => true,
                () = tokio::time::sleep(wait) => false,
            };
            if is_stopping || Instant::now() >= deadline {
                tracing::error!(session = %self.session.id, "the run's end was not kept; its lease runs out");
                self.live.tell_passing(Event::Done { stop_reason: End::Failed });
                return Driven::Lost;
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        if self.delegates() {
            self.runtime.cancel_below(self.session.id).await;
        }
        Driven::Ended(End::Failed)
    }

    /// One try. What counts is what stands in the log: the entries that were refused are not there,
    /// unless the database took them and only its word was lost.
    async fn keep_failure(&mut self, message: &str) -> Result<(), NotKept> {
        self.turns = self.runtime.store().turns(self.session.id).await.map_err(NotKept)?;
        let error = Note::Error { code: ErrorCode::Storage, message: message.to_owned() };
        let entries = last_entries(&self.turns, End::Failed, Some(error));
        self.keep(entries, RunChange { then: Some(After::Idle), ..RunChange::default() }).await
    }
}

/// However a drive ends, also when its task is dropped or panics: what nobody drives does not count
/// as running, so that its lease runs out.
impl Drop for Driver {
    fn drop(&mut self) {
        if !self.is_over {
            self.live.stop(self.number);
        }
    }
}
