//! One viewer's stream of a session's events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agent::{Event, LogEntry};
use tokio::sync::watch;

use super::Inner;
use super::live::{EventId, Heard, Told, Viewer};
use crate::Result;

/// How often the log is read where another process may be writing it: at first, and at last where
/// nothing ever comes.
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
    runtime: Arc<Inner>,
    receiver: watch::Receiver<u64>,
    position: u64,
    after: EventId,
    ready: VecDeque<Arc<Told>>,
    /// The place up to which the log was read: where nothing was, nothing will be.
    read_through: i64,
    until: Until,
    is_over: bool,
    /// How long to wait before the log is read again.
    poll_after: Duration,
}

impl Subscription {
    pub(super) fn new(
        runtime: Arc<Inner>,
        (viewer, receiver, position): (Viewer, watch::Receiver<u64>, u64),
        after: EventId,
        until: Until,
    ) -> Self {
        let (ready, read_through) = (VecDeque::new(), after.seq);
        let (is_over, poll_after) = (false, POLL_INTERVAL);
        Self { viewer, runtime, receiver, position, after, ready, read_through, until, is_over, poll_after }
    }

    /// The next event; none when the run that was asked for is over, or the session is gone.
    pub async fn next(&mut self) -> Result<Option<Arc<Told>>> {
        loop {
            while let Some(told) = self.ready.pop_front() {
                // The buffer and the log overlap.
                if told.id <= self.after || self.is_over {
                    continue;
                }
                // What another process put into the log was not told here.
                let through = if told.id.delta == 0 { told.id.seq - 1 } else { told.id.seq };
                if through > self.after.seq && through > self.read_through {
                    self.ready.push_front(told);
                    self.read_between(through).await?;
                    continue;
                }
                self.after = told.id;
                self.is_over = self.until == Until::Done && told.event.is_last();
                return Ok(Some(told));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.viewer.0.since(self.position) {
                Heard::Lagged(position) => {
                    self.position = position;
                    self.read_log().await?;
                }
                Heard::Events(events, position) if !events.is_empty() => {
                    self.position = position;
                    self.ready.extend(events);
                }
                Heard::Events(..) => self.wait().await?,
            }
        }
    }

    /// Waits for more. What this process does not run, another one may: its entries are polled for.
    async fn wait(&mut self) -> Result<()> {
        if self.viewer.0.is_running() {
            // The sender lives as long as the viewer does.
            let _ = self.receiver.changed().await;
            return Ok(());
        }
        if self.viewer.0.is_deleted() {
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
        match self.runtime.store().session(self.viewer.0.id).await? {
            // Of one that was deleted, nothing will ever come.
            None => self.is_over = true,
            // Nor of one whose process is gone, unless somebody says that it has ended.
            Some(session) => drop(self.runtime.seen(session).await?),
        }
        Ok(())
    }

    pub(super) async fn read_log(&mut self) -> Result<()> {
        loop {
            let after = self.ready.back().map_or(self.after.seq, |told| told.id.seq);
            let page = self.runtime.store().log(self.viewer.0.id, after, LOG_PAGE).await?;
            let is_last = page.len() < LOG_PAGE;
            self.ready.extend(page.iter().map(told));
            if let Some(last) = page.last() {
                self.read_through = last.seq;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Puts what stands in the log up to a place before what is ready.
    async fn read_between(&mut self, through: i64) -> Result<()> {
        let mut between = Vec::new();
        let mut after = self.after.seq;
        loop {
            let page = self.runtime.store().log(self.viewer.0.id, after, LOG_PAGE).await?;
            let is_last = page.len() < LOG_PAGE || page.last().is_some_and(|last| last.seq >= through);
            after = page.last().map_or(through, |last| last.seq);
            between.extend(page.iter().filter(|found| found.seq <= through).map(told));
            if is_last {
                break;
            }
        }
        self.read_through = through;
        for told in between.into_iter().rev() {
            self.ready.push_front(told);
        }
        Ok(())
    }
}

fn told(LogEntry { seq, entry }: &LogEntry) -> Arc<Told> {
    Arc::new(Told { id: EventId::of_entry(*seq), event: Event::from(entry) })
}
