//! A run whose entries the database refuses.
//!
//! It cannot continue: events must be stored before they are reported. Its end is stored as soon as the
//! database accepts it. If that takes too long, the session is released as if the process had died:
//! its lease is not renewed, and the next process finds calls without results and answers them.

use std::time::Duration;

use agent::{End, ErrorCode, Event, Note};
use sessions::{AfterRun, RunChange};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::drive::Driven;
use super::gone::last_entries;
use super::record::{NotStored, Record};
use crate::ErrorKind;

/// How long to try to store the end of a run.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pauses between tries: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Ends a run after an error of the database. Gives up if another process has the session, or when this
/// process stops.
pub(super) async fn end(
    record: &mut Record,
    error: &sessions::Error,
    stopping: &CancellationToken,
) -> Driven {
    if error.kind() == ErrorKind::Conflict {
        return lose(record, error);
    }
    let message = format!("the session could not be stored: {error}");
    let deadline = Instant::now() + PATIENCE;
    let mut wait = FIRST_WAIT;
    let mut is_reported = false;
    loop {
        match tokio::time::timeout_at(deadline, store_failure(record, &message)).await {
            Ok(Ok(())) => return Driven::Ended(End::Failed),
            Ok(Err(NotStored(error))) if error.kind() == ErrorKind::Conflict => {
                return lose(record, &error);
            }
            Ok(Err(NotStored(error))) => {
                tracing::debug!(session = %record.session.id, %error, "the run's end is not stored yet");
            }
            Err(_) => {}
        }
        // The end itself is reported once it is stored.
        if !std::mem::replace(&mut is_reported, true) {
            let message = message.clone();
            record.live.feed.report_passing(Event::Error { code: ErrorCode::Storage, message });
        }
        let is_stopping = tokio::select! {
            () = stopping.cancelled() => true,
            () = tokio::time::sleep(wait) => false,
        };
        if is_stopping || Instant::now() >= deadline {
            tracing::error!(session = %record.session.id, "the run's end was not stored; its lease ends");
            record.live.feed.report_passing(Event::Done { stop_reason: End::Failed });
            return Driven::Lost;
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn lose(record: &Record, error: &sessions::Error) -> Driven {
    tracing::warn!(session = %record.session.id, %error, "another process took the session over");
    Driven::Lost
}

/// Tries once to store the end.
async fn store_failure(record: &mut Record, message: &str) -> Result<(), NotStored> {
    record.reload().await?;
    let error = Note::Error { code: ErrorCode::Storage, message: message.to_owned() };
    let entries = last_entries(&record.turns, End::Failed, Some(error));
    let change = RunChange { then: Some(AfterRun::Idle), ..RunChange::default() };
    record.append(entries, change).await
}
