//! A run whose entries the database refuses.
//!
//! It cannot continue: events must be stored before they are reported. Its end is stored as soon as the
//! database accepts it. If that takes too long, the session is released as if the process had died:
//! its lease expires, and the next process finds calls without results and answers them.

use std::time::Duration;

use agent::{End, ErrorCode, Event, Note};
use sessions::{After, RunChange};
use tokio::time::Instant;

use super::drive::{Driven, Driver};
use super::gone::last_entries;
use super::record::NotStored;

/// How long to try to store the end of a run.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pauses between tries: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

impl Driver {
    /// Ends the run because of an error of the database.
    pub(super) async fn end_unstored(&mut self, error: &sessions::Error) -> Driven {
        let message = format!("the session could not be stored: {error}");
        let deadline = Instant::now() + PATIENCE;
        let mut wait = FIRST_WAIT;
        let mut is_reported = false;
        loop {
            match tokio::time::timeout_at(deadline, self.store_failure(&message)).await {
                Ok(Ok(())) => break,
                Ok(Err(NotStored(error))) if error.kind() == crate::ErrorKind::Conflict => {
                    return self.lose(&error);
                }
                Ok(Err(NotStored(error))) => {
                    tracing::debug!(session = %self.record.session.id, %error, "the run's end is not stored yet");
                }
                Err(_) => {}
            }
            // The end itself is reported once it is stored.
            if !std::mem::replace(&mut is_reported, true) {
                let message = message.clone();
                self.record.report_passing(Event::Error { code: ErrorCode::Storage, message });
            }
            let is_stopping = tokio::select! {
                () = self.stopping.cancelled() => true,
                () = tokio::time::sleep(wait) => false,
            };
            if is_stopping || Instant::now() >= deadline {
                tracing::error!(session = %self.record.session.id, "the run's end was not stored; its lease expires");
                self.record.report_passing(Event::Done { stop_reason: End::Failed });
                return Driven::Lost;
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        if self.is_delegating() {
            self.cancel_below().await;
        }
        Driven::Ended(End::Failed)
    }

    /// Tries once.
    async fn store_failure(&mut self, message: &str) -> Result<(), NotStored> {
        self.record.reload().await?;
        let error = Note::Error { code: ErrorCode::Storage, message: message.to_owned() };
        let entries = last_entries(&self.record.turns, End::Failed, Some(error));
        let change = RunChange { then: Some(After::Idle), ..RunChange::default() };
        self.record.append(entries, change).await
    }
}
