//! One viewer's stream of a session's events.

use async_recursion::async_recursion as boxed;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agent::{Event, LogEntry, SessionStatus};
use tokio::sync::watch;
use uuid::Uuid;

use super::SessionRunner;
use super::live::{Buffered, EventId, Reported, Viewer};
use crate::Result;

/// How often the log is polled if another process may write it: at first, and at most if nothing comes.
const POLL_INTERVAL: Duration = Duration::from_millis(400);
const LONGEST_POLL_INTERVAL: Duration = Duration::from_millis(3200);
/// Entries read from the log at once.
const LOG_PAGE: usize = 500;

/// How long a subscription lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// To the end of the run.
    Done,
    Dropped,
}

/// A session's events from some place on, in order, none twice.
#[derive(Debug)]
pub struct Subscription {
    viewer: Viewer,
    runner: Arc<SessionRunner>,
    receiver: watch::Receiver<u64>,
    position: u64,
    after: EventId,
    ready: VecDeque<Arc<Reported>>,
    /// The place up to which the log was read. Gaps below it stay empty.
    read_through: i64,
    until: Until,
    is_over: bool,
    /// The pause before the log is polled again.
    poll_after: Duration,
}

impl Subscription {
    pub(super) fn new(
        runner: Arc<SessionRunner>,
        (viewer, receiver, position): (Viewer, watch::Receiver<u64>, u64),
        after: EventId,
        until: Until,
    ) -> Self {
        let (ready, read_through) = (VecDeque::new(), after.seq);
        let (is_over, poll_after) = (false, POLL_INTERVAL);
        Self { viewer, runner, receiver, position, after, ready, read_through, until, is_over, poll_after }
    }

    /// The session whose events these are.
    pub fn session(&self) -> Uuid {
        self.viewer.0.id
    }

    /// The entry of the log after which it begins.
    pub fn begins_after(&self) -> i64 {
        self.after.seq
    }

    /// True while this process runs the session.
    pub fn is_running(&self) -> bool {
        self.viewer.0.run.is_running()
    }

    /// The next event. None when the awaited run is over, or the session is deleted.
    #[boxed]
    pub async fn next(&mut self) -> Result<Option<Arc<Reported>>> {
        loop {
            while let Some(reported) = self.ready.pop_front() {
                // The buffer and the log overlap.
                if reported.id <= self.after || self.is_over {
                    continue;
                }
                // Entries of other processes were not reported here.
                let through = if reported.id.delta == 0 { reported.id.seq - 1 } else { reported.id.seq };
                if through > self.after.seq && through > self.read_through {
                    self.ready.push_front(reported);
                    self.read_between(through).await?;
                    continue;
                }
                self.after = reported.id;
                self.is_over = self.until == Until::Done && reported.event.is_last();
                return Ok(Some(reported));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.viewer.0.feed.since(self.position) {
                Buffered::Lagged(position) => {
                    self.position = position;
                    self.read_log().await?;
                }
                Buffered::Events(events, position) if !events.is_empty() => {
                    self.position = position;
                    self.ready.extend(events);
                }
                Buffered::Events(..) => self.wait().await?,
            }
        }
    }

    /// Waits for more. Polls the log if another process may run the session.
    async fn wait(&mut self) -> Result<()> {
        if self.viewer.0.run.is_running() {
            // The sender lives as long as the viewer does.
            let _ = self.receiver.changed().await;
            return Ok(());
        }
        if self.viewer.0.feed.is_closed() {
            self.is_over = true;
            return Ok(());
        }
        tokio::select! {
            _ = self.receiver.changed() => {
                self.poll_after = POLL_INTERVAL;
                return Ok(());
            }
            () = tokio::time::sleep(self.poll_after) => {}
        }
        self.read_log().await?;
        if !self.ready.is_empty() {
            self.poll_after = POLL_INTERVAL;
            return Ok(());
        }
        self.poll_after = (self.poll_after * 2).min(LONGEST_POLL_INTERVAL);
        match self.runner.sessions.session(self.viewer.0.id).await? {
            // It was deleted.
            None => self.is_over = true,
            // Ends the run of a process that is gone.
            Some(session) => {
                let session = self.runner.settle(session).await?;
                if self.until == Until::Done && session.status == SessionStatus::Idle {
                    // The run may have ended since the log was read. If it did not, its message was taken
                    // back, and no end will come.
                    self.read_log().await?;
                    self.is_over = self.ready.is_empty();
                }
            }
        }
        Ok(())
    }

    pub(super) async fn read_log(&mut self) -> Result<()> {
        loop {
            let after = self.ready.back().map_or(self.after.seq, |reported| reported.id.seq);
            let page = self.runner.sessions.log(self.viewer.0.id, after, LOG_PAGE).await?;
            let is_last = page.len() < LOG_PAGE;
            self.ready.extend(page.iter().map(reported));
            if let Some(last) = page.last() {
                self.read_through = last.seq;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Puts the log's entries up to a place before the events that are ready.
    async fn read_between(&mut self, through: i64) -> Result<()> {
        let mut between = Vec::new();
        let mut after = self.after.seq;
        loop {
            let page = self.runner.sessions.log(self.viewer.0.id, after, LOG_PAGE).await?;
            let is_last = page.len() < LOG_PAGE || page.last().is_some_and(|last| last.seq >= through);
            after = page.last().map_or(through, |last| last.seq);
            between.extend(page.iter().filter(|found| found.seq <= through).map(reported));
            if is_last {
                break;
            }
        }
        self.read_through = through;
        for reported in between.into_iter().rev() {
            self.ready.push_front(reported);
        }
        Ok(())
    }
}

fn reported(LogEntry { seq, entry }: &LogEntry) -> Arc<Reported> {
    Arc::new(Reported { id: EventId::of_entry(*seq), event: Event::from(entry) })
}
